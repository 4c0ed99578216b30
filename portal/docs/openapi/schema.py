"""How drf-spectacular reads the views: texts from docs/reference, security schemes, and one naming scheme for the schemas:
`SendMessageRequest` is a request, `Message` an object, `MessageResponse` a reply.
"""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import force_instance, is_serializer
from drf_spectacular.utils import Direction

from core.api import ratelimits
from core.api.json_schema import set_limits
from core.api.throttles import throttles_of
from portal.docs.openapi import errors, texts


class EnvelopeSchema(AutoSchema):
    """Defaults that fit this API: a reply is an object, never a bare list, and 200 unless a view says otherwise."""

    def get_summary(self) -> str | None:
        text = texts.operations().get(self.get_operation_id())
        return text.title if text else None

    def get_description(self) -> str:  # type: ignore[override]
        # Docstrings are for readers of the code, so they are never used.
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

    def _map_basic_serializer(self, serializer: Any, direction: Direction) -> Any:
        schema = super()._map_basic_serializer(serializer, direction)
        for name, field in force_instance(serializer).fields.items():
            set_limits(schema["properties"][name], getattr(field, "limits", {}))
        return schema

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is not None:
            operation["x-error-codes"] = errors.codes_of(operation, self.view)
            if rates := rates_of(self.view, self.method):
                operation["x-rate-limits"] = rates
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


# Operations whose views read the token themselves.
SECURITY: dict[str, list[dict[str, list[str]]]] = {
    "auth_refresh": [{"bearer": []}],
    "notifications_events": [{"webhook": []}],
}
# Names by the scheme → the names in the document.
NAMES = {
    "DeletedResponse": "MessageDeletedResponse",
    "ReadResponse": "ConversationReadResponse",
    "BlockUserByServerRequest": "ServerBlockRequest",
    "CreateUserRequest": "ServerCreateUserRequest",
    "PatchedChangeUserRequest": "ServerChangeUserRequest",
    "EraseUserRequest": "ServerEraseUserRequest",
    "OptionalReasonRequest": "ServerReasonRequest",
    "OpenSessionRequest": "ServerSessionRequest",
    # The same shape as a request: complete with PUT, partial with PATCH.
    "PreferencesRequest": "SetPreferencesRequest",
    "PatchedPreferencesRequest": "ChangePreferencesRequest",
}
DELETE_WITH_BODY = {"profile_push_token_remove", "messages_unreact", "server_users_erase"}


class OpenValueScheme(OpenApiSerializerFieldExtension):
    """A list that may grow, as a schema of its own."""

    target_class = "core.api.open_values.OpenValueField"

    def get_name(self) -> str:
        return str(self.target.values.name)

    def map_serializer_field(self, auto_schema: Any, direction: Direction) -> Any:
        return self.target.values.schema()


class ErrorCodeScheme(OpenApiSerializerFieldExtension):
    target_class = "core.api.open_values.ErrorCodeField"

    def get_name(self) -> str:
        return errors.codes().name

    def map_serializer_field(self, auto_schema: Any, direction: Direction) -> Any:
        return errors.codes().schema()


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


class ServerKeyScheme(OpenApiAuthenticationExtension):
    """The key of the team's own server in the Authorization header."""

    target_class = "integrations.authentication.ServerKeyAuthentication"
    name = "server_key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        about = "A key that `manage.py create_server_key` has made, `sk_…`. It never leaves your servers."
        return {"type": "http", "scheme": "bearer", "description": about}


class PictureScheme(OpenApiAuthenticationExtension):
    """The signature in the URL of an image, so that a plain `<img>` works; or the session token."""

    target_class = "accounts.authentication.SignatureOrBearer"
    name = "signature"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        about = "The signature in the query of a `media_url`, `thumb_url` or `avatar_url`."
        return {"type": "apiKey", "in": "query", "name": "s", "description": about}

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[str]]]:
        return [{"signature": []}, {"bearer": []}]


def rates_of(view: Any, method: str) -> list[dict[str, Any]]:
    """The rates of one operation as the document states them: requests, seconds, and what they are counted by."""
    handler = getattr(view, getattr(view, "action", None) or method.lower(), None)
    return [
        {"requests": requests, "seconds": seconds, "per": throttle.by.__name__.replace("_", " ")}
        for throttle in throttles_of(handler, method)
        for requests, seconds, _ in ratelimits.rates_of(throttle.scope)
    ]
