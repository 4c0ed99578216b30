"""Records the requests and replies of a story as the examples of the reference."""

import re
from typing import Any

from tests import schema
from tests.client import ApiClient

# Values that differ from run to run, by the name of their field.
FIXED: dict[str, Any] = {
    "token": "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "two_step_token": "pY0dV7iQm2xk9sT4aZ1cR8eWnB6uH3fLqJ5oGvKtX-M",
    "challenge_token": "c7QzR1mXw5Nf0tYpK2sLd8VbJ4hGeA9uO6iTqWxZy3E",
    "action_token": "a5TkV9rJb1Wd7xQnM3eHs0YcL8fPzG2uI6oRtKwNq4U",
    "device_token": "d2XnB8sLq6Fv4mTzK0pWc7RgJ1yHeU9aI5oVtQkMx3N",
    "request_id": "5f1c2a9be07d4c31",
    "epoch": "7d1f3c5a9b2e4068",
    "next_cursor": "eyJhdCI6IjIwMjYtMTEtMjAiLCJpZCI6N30",
    "blurhash": "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
    "ip": "203.0.113.7",
    "user_agent": "ParleyApp/1.0 (Android 15)",
    "device_name": "Pixel 9",
    "code": "482913",
    "size": 20480,
    "hint": "a colour and a light",
    "recovery_codes": [f"{group}-K7QM-2XVT-9RNB" for group in ("H4TD", "W8PC", "N3LF")],
    "recovery_code": "H4TD-K7QM-2XVT-9RNB",
}
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
SIGNED = re.compile(r"/api/v1/media/[^/?]+(/thumb)?\?.*")
USERNAME = re.compile(r"(alice|bob|charlie|mia)_[a-z2-7]{5}")
MEDIA = "/api/v1/media/Zk3vX9qLw2Rt7YbN5mCp1A"


def fixed(value: Any, name: str = "") -> Any:
    """The value with everything that chance or the clock decides replaced."""
    if isinstance(value, dict):
        return {key: fixed(inner, key) for key, inner in value.items()}
    if value is not None and name in FIXED and value != "":
        return FIXED[name]
    if isinstance(value, list):
        return [fixed(inner, name) for inner in value]
    if isinstance(value, str):
        if MOMENT.fullmatch(value):
            return "2026-11-20T08:01:00.000000Z"
        if match := SIGNED.fullmatch(value):
            return f"{MEDIA}{match[1] or ''}?e=1795305600&s=q8Zr2mV5xT0c"
        if match := USERNAME.fullmatch(value):
            return f"{match[1]}_k7m2p"
    return value


def shape(value: Any) -> Any:
    """What is compared: names and types, not values."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


class Recorder:
    """Sends requests of the story and keeps each as an example of its operation."""

    def __init__(self) -> None:
        self.examples: dict[str, Any] = {}

    def record(
        self,
        client: ApiClient,
        operation_id: str,
        path: str,
        data: Any = None,
        *,
        status: int = 200,
        name: str = "example",
        headers: dict[str, str] | None = None,
        form: dict[str, Any] | None = None,
    ) -> Any:
        """Send one request of the operation, keep it and its reply, and return the reply."""
        route, method = schema.operation(operation_id)
        address = f"/api/v1/{path}"
        if form is not None:
            body = client.upload(address, status=status, method=method, **form)
            data = {key: "photo.jpg" if hasattr(value, "read") else value for key, value in form.items()}
        elif operation_id == "realtime_schema":  # a whole document, not a reply in our envelope
            body = client.raw(method, address)
            assert body.status_code == status
        else:
            body = client.request(method, address, data, status, headers=headers)
        assert schema.pattern(route).fullmatch(address.partition("?")[0]), (operation_id, address)
        example = self.examples.setdefault(operation_id, {"parameters": {}, "request": {}, "responses": {}})
        if data is not None:
            example["request"][name] = fixed(data)
        if isinstance(body, dict):
            example["responses"].setdefault(str(status), {})[name] = fixed(body)
        example["parameters"] |= _parameters(route, address)
        return body


def _parameters(route: str, address: str) -> dict[str, Any]:
    """The values of the path's and the query's parameters in this address."""
    plain, _, query = address.partition("?")
    pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", route)
    match = re.fullmatch(pattern, plain)
    assert match
    values = dict(match.groupdict()) | dict(part.split("=", 1) for part in query.split("&") if part)
    if "token" in values:
        values["token"] = MEDIA.rpartition("/")[2]
    return {key: int(value) if value.isdigit() else value for key, value in values.items()}
