"""Limits of fields that services check, so that a client can check them before it sends.

drf-spectacular reads what the serializers and their fields declare. These rules live in services.
"""

from typing import Any

NEW_PASSWORD = {"minLength": 8}
TEXT = {"minLength": 1, "maxLength": 4096}
CLIENT_ID = {"maxLength": 64, "pattern": "^[A-Za-z0-9_-]*$"}
PICTURE = {"description": "JPEG, PNG, WebP or GIF, at most 5 MB (5,242,880 bytes)."}

# Request schema or `*` → field → what is added to it.
FIELDS: dict[str, dict[str, dict[str, Any]]] = {
    "*": {"new_password": NEW_PASSWORD},
    "SignUpRequest": {"password": NEW_PASSWORD},
    "TwoStepEnableRequest": {"password": NEW_PASSWORD},
    "UpdateProfileRequest": {"username": {"minLength": 3, "maxLength": 32}},
    "SendMessageRequest": {"body": TEXT, "client_id": CLIENT_ID},
    "SendImageRequest": {
        "body": {"maxLength": 4096},
        "client_id": CLIENT_ID,
        "file": PICTURE,
    },
    "EditMessageRequest": {"body": {"maxLength": 4096}},
    "SetAvatarRequest": {"file": PICTURE},
    "ReactionRequest": {"emoji": {"minLength": 1, "maxLength": 32}},
    "ReportRequest": {"reason": {"maxLength": 100}, "comment": {"maxLength": 2000}},
    "PushTokenRequest": {
        "token": {"pattern": "^[!-~]+$"},
        "platform": {"enum": ["android", "ios", "web"]},
        "locale": {"pattern": "^([A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*)?$"},
    },
    "RemovePushTokenRequest": {"token": {"pattern": "^[!-~]+$"}},
}

ID = {"type": "integer", "format": "int64", "minimum": 1}


def apply(schemas: dict[str, Any]) -> None:
    """Adds the limits to the request schemas."""
    for name, schema in schemas.items():
        if not name.endswith("Request"):
            continue
        rules = FIELDS["*"] | FIELDS.get(name, {})
        for field, inner in schema.get("properties", {}).items():
            inner.update(rules.get(field, {}))
            if inner.get("format") == "binary":
                # OpenAPI 3.1's type of a file.
                inner["contentMediaType"] = "application/octet-stream"
