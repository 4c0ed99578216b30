"""Limits of fields that services check, so that a client can check them before it sends.

drf-spectacular reads what the serializers declare. These rules live in services and field classes.
"""

from typing import Any

from django.conf import settings

from core.text import language_tag

EMAIL = {"format": "email", "minLength": 3, "maxLength": 254}
NAME = {"minLength": 1, "maxLength": 50}
NEW_PASSWORD = {"minLength": 8, "maxLength": 256, "format": "password"}
PASSWORD = {"minLength": 1, "maxLength": 256, "format": "password"}
CODE = {
    "minLength": 1,
    "maxLength": 64,
    "description": "The mailed code: 6 digits, or 8 or 10 after many failed attempts. Spaces and dashes are ignored.",
}
TEXT = {"minLength": 1, "maxLength": 4096, "description": "1 to 4,096 characters after trimming."}
CLIENT_ID = {
    "maxLength": 64,
    "pattern": "^[A-Za-z0-9_-]*$",
    "description": "Chosen by the client, 1 to 64 of `A-Z a-z 0-9 _ -`. Makes the request safe to repeat.",
}


def language() -> dict[str, Any]:
    codes = ", ".join(f"`{language_tag(code)}`" for code, _ in settings.LANGUAGES)
    return {
        "maxLength": 35,
        "description": f"A BCP 47 language tag. Supported: {codes}. Other tags fall back to their base, then to `en`.",
    }


# Request schema or `*` → field → what is added to it.
FIELDS: dict[str, dict[str, dict[str, Any]]] = {
    "*": {"email": EMAIL, "code": CODE, "password": PASSWORD, "new_password": NEW_PASSWORD},
    "SignUpRequest": {"first_name": NAME, "last_name": NAME, "password": NEW_PASSWORD},
    "UpdateProfileRequest": {
        "first_name": NAME,
        "last_name": {"maxLength": 50},
        "username": {"minLength": 3, "maxLength": 30},
    },
    "TwoStepEnableRequest": {"password": NEW_PASSWORD},
    "ChangePasswordRequest": {"current_password": PASSWORD},
    "SendMessageRequest": {"body": TEXT, "client_id": CLIENT_ID},
    "SendImageRequest": {
        "body": {"maxLength": 4096},
        "client_id": CLIENT_ID,
        "file": {"description": "JPEG, PNG, WebP or GIF, at most 5 MB (5,242,880 bytes)."},
    },
    "EditMessageRequest": {"body": {"maxLength": 4096}},
    "SetAvatarRequest": {"file": {"description": "JPEG, PNG, WebP or GIF, at most 5 MB (5,242,880 bytes)."}},
    "ReactionRequest": {"emoji": {"minLength": 1, "maxLength": 64, "description": "Exactly one emoji."}},
    "ReportRequest": {"reason": {"minLength": 1, "maxLength": 100}, "comment": {"maxLength": 2000}},
    "PushTokenRequest": {
        "token": {"minLength": 1, "pattern": "^[!-~]+$"},
        "platform": {"enum": ["android", "ios", "web"]},
        "locale": {"pattern": "^([A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*)?$"},
    },
    "RemovePushTokenRequest": {"token": {"minLength": 1, "pattern": "^[!-~]+$"}},
    "ChallengeRequest": {
        "action": {
            "description": "One of `change_password`, `change_email`, `two_step_enable`, `two_step_change`,"
            " `two_step_disable`, `recovery_codes`, `export_data`, `delete_account`. Dashes, capitals and the other"
            " order of words are accepted.",
        }
    },
}

ID = {"type": "integer", "format": "int64", "minimum": 1}
# The default and the most of a list whose length the description does not say yet.
LIMITS = {
    "messages_search_users": (20, 50),
    "messages_list_conversations": (30, 100),
    "messages_list": (50, 100),
    "messages_search_inside": (20, 100),
    "notifications_list": (20, 50),
    "calls_list": (30, 100),
    "realtime_changes": (100, 500),
}


def limit(operation_id: str) -> dict[str, Any]:
    """The `limit` parameter of a list. Larger values are clamped, so there is no maximum to hold."""
    if operation_id not in LIMITS:
        return {"schema": {"type": "integer", "minimum": 1}}
    default, most = LIMITS[operation_id]
    return {
        "schema": {"type": "integer", "minimum": 1, "default": default},
        "description": f"Number of rows, {default} by default. Values above {most} count as {most}.",
    }


def apply(schemas: dict[str, Any]) -> None:
    """Adds the limits to the request schemas."""
    for name, schema in schemas.items():
        if not name.endswith("Request"):
            continue
        rules = FIELDS["*"] | FIELDS.get(name, {})
        for field, inner in schema.get("properties", {}).items():
            extra = rules.get(field) or (language() if field == "language" else None)
            if extra:
                description = inner.get("description")
                inner.update({key: value for key, value in extra.items() if key != "description" or not description})
            if inner.get("format") == "binary":
                # OpenAPI 3.1's type of a file.
                inner["contentMediaType"] = "application/octet-stream"
