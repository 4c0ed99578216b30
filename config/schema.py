"""OpenAPI hooks: the error envelope on every operation, the bearer token of those that need one, numbers as ids."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import is_serializer
from drf_spectacular.utils import Direction


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The session token in the Authorization header."""

    target_class = "accounts.authentication.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


class TwoStepScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The opaque token of an unfinished sign-in in the Authorization header."""

    target_class = "accounts.authentication.TwoStepAuthentication"
    name = "two_step"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "The `two_step_token` that login gives."}


class PictureScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """What a listing puts into the path of a picture, so that a plain `<img>` works."""

    target_class = "messaging.viewsets.media.SignatureOrBearer"
    name = "signature"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "query", "name": "s", "description": "Or the session token as a bearer."}


class EnvelopeSchema(AutoSchema):  # type: ignore[no-untyped-call]
    """The guesses that fit this API: a reply is an object, never a bare list, and 200 unless a view says otherwise."""

    def _is_list_view(self, serializer: Any = None) -> bool:
        return False

    def _get_response_bodies(self, direction: Direction = "response") -> Any:
        found = self.get_response_serializers()
        if is_serializer(found):
            return {"200": self._get_response_for_code(found, "200", direction=direction)}
        return super()._get_response_bodies(direction)


def describe_errors(result: dict[str, Any], generator: Any, **kwargs: Any) -> dict[str, Any]:
    """Adds the Error component and a `default` response that refers to it."""
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas["Error"] = {
        "type": "object",
        "required": ["ok", "error", "message", "request_id"],
        "properties": {
            "ok": {"type": "boolean", "const": False},
            "error": {"type": "string", "description": "Branch on this code, never on the text."},
            "message": {"type": "string"},
            "fields": {
                "type": "object",
                "additionalProperties": {"type": "array", "items": {"type": "string"}},
            },
            "retry_after": {"type": "integer", "minimum": 0},
            "request_id": {"type": "string"},
        },
    }
    reference = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for operations in result.get("paths", {}).values():
        for operation in operations.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation["responses"].setdefault(
                    "default", {"description": "The error envelope.", "content": reference}
                )
    return result


def name_ids(result: dict[str, Any], generator: Any, **kwargs: Any) -> dict[str, Any]:
    """Ids in paths are numbers to whoever generates a client. The views take them as text, so that an odd
    one is answered like any id that does not exist."""
    for operations in result.get("paths", {}).values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []) if isinstance(operation, dict) else []:
                if parameter["in"] == "path" and parameter["name"].endswith("_id"):
                    parameter["schema"] = {"type": "integer", "format": "int64", "minimum": 1}
    return result
