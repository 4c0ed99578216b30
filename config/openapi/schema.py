"""How drf-spectacular reads the views: texts from docs/reference, security schemes, and one naming scheme for the schemas:
`SendMessageRequest` is a request, `Message` an object, `MessageResponse` a reply.
"""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import is_serializer
from drf_spectacular.utils import Direction

from config.openapi import errors, texts


class EnvelopeSchema(AutoSchema):
    """Defaults that fit this API: a reply is an object, never a bare list, and 200 unless a view says otherwise."""

    def get_summary(self) -> str | None:
        text = texts.operations().get(self.get_operation_id())
        return text.title if text else None

    def get_description(self) -> str:  # type: ignore[override]
        # Never a docstring: those are written for the readers of the code.
        text = texts.operations().get(self.get_operation_id())
        return text.description if text else ""

    def get_auth(self) -> list[dict[str, list[str]]]:
        auth: list[dict[str, list[str]]] = super().get_auth()
        return SECURITY.get(self.get_operation_id(), auth)

    def get_serializer_name(self, serializer: Any, direction: Direction) -> str:
        name = type(serializer).__name__
        for ending in ("Serializer", "Input", "Output", "Reply"):
            name = name.removesuffix(ending)
        return f"{name}Response" if direction == "response" and "ok" in serializer.fields else name

    def _get_serializer_name(self, serializer: Any, direction: Direction, bypass_extensions: bool = False) -> str:
        name: str = super()._get_serializer_name(serializer, direction, bypass_extensions)
        return NAMES.get(name, name.removeprefix("Patched"))

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is not None:
            operation["x-error-codes"] = errors.codes_of(operation, self.view)
        return operation

    def _get_request_body(self, *args: Any, **kwargs: Any) -> Any:
        # drf-spectacular leaves the body of every DELETE request out.
        if self.get_operation_id() not in DELETE_WITH_BODY:
            return super()._get_request_body(*args, **kwargs)
        self.method = "POST"
        try:
            return super()._get_request_body(*args, **kwargs)
        finally:
            self.method = "DELETE"

    def _is_list_view(self, serializer: Any = None) -> bool:
        return False

    def _get_response_bodies(self, direction: Direction = "response") -> Any:
        serializers = self.get_response_serializers()
        if is_serializer(serializers):
            return {"200": self._get_response_for_code(serializers, "200", direction=direction)}
        return super()._get_response_bodies(direction)


# Operations whose view reads the token itself.
SECURITY: dict[str, list[dict[str, list[str]]]] = {
    "auth_refresh": [{"bearer": []}],
    "notifications_events": [{"webhook": []}],
}
# Names by the scheme → the names in the document.
NAMES = {
    "DeletedResponse": "MessageDeletedResponse",
    "ReadResponse": "ConversationReadResponse",
    # The same shape as a request: complete with PUT, partial with PATCH.
    "PreferencesRequest": "SetPreferencesRequest",
    "PatchedPreferencesRequest": "ChangePreferencesRequest",
}
DELETE_WITH_BODY = {"profile_push_token_remove", "messages_unreact"}


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
    """The signature in the URL of an image, so that a plain `<img>` works; or the session token."""

    target_class = "accounts.authentication.SignatureOrBearer"
    name = "signature"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        about = "The signature in the query of a `media_url`, `thumb_url` or `avatar_url`."
        return {"type": "apiKey", "in": "query", "name": "s", "description": about}

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[str]]]:
        return [{"signature": []}, {"bearer": []}]
