"""The security schemes of the document."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class BearerScheme(OpenApiAuthenticationExtension):
    """The session token in the Authorization header."""

    target_class = "accounts.authentication.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        about = "The session token of `auth_verify`, `auth_login`, `auth_two_step` or `auth_refresh`."
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": about}


class TwoStepScheme(OpenApiAuthenticationExtension):
    """The opaque token of an unfinished sign-in in the Authorization header."""

    target_class = "accounts.authentication.TwoStepAuthentication"
    name = "two_step"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "The `two_step_token` that `auth_login` returns."}


class PictureScheme(OpenApiAuthenticationExtension):
    """The signature in the URL of an image, so that a plain `<img>` works."""

    target_class = "accounts.authentication.SignatureOrBearer"
    name = "signature"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        about = "The signature in the query of a `media_url`, `thumb_url` or `avatar_url`."
        return {"type": "apiKey", "in": "query", "name": "s", "description": about}


WEBHOOK = {
    "type": "apiKey",
    "in": "header",
    "name": "webhook-signature",
    "description": "Standard Webhooks: `v1,` and the base64 of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`.",
}

# Operations whose view reads the token itself, or accepts one of two.
BY_OPERATION: dict[str, list[dict[str, list[str]]]] = {
    "auth_refresh": [{"bearer": []}],
    "notifications_events": [{"webhook": []}],
    "media_get": [{"signature": []}, {"bearer": []}],
    "media_get_thumb": [{"signature": []}, {"bearer": []}],
}
