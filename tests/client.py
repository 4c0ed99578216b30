"""The test client: it asserts the status and returns the body."""

import json
from typing import Any

from django.test import Client

from tests import schema

JSON = "application/json"


class ApiClient:
    def __init__(self, token: str | None = None, **headers: str) -> None:
        self.token = token
        self.headers = headers
        self._client = Client(raise_request_exception=False)

    def get(self, path: str, status: int = 200, **options: Any) -> Any:
        return self.request("GET", path, None, status, **options)

    def post(self, path: str, data: Any = None, status: int = 200, **options: Any) -> Any:
        return self.request("POST", path, data, status, **options)

    def put(self, path: str, data: Any = None, status: int = 200, **options: Any) -> Any:
        return self.request("PUT", path, data, status, **options)

    def patch(self, path: str, data: Any = None, status: int = 200, **options: Any) -> Any:
        return self.request("PATCH", path, data, status, **options)

    def delete(self, path: str, data: Any = None, status: int = 200, **options: Any) -> Any:
        return self.request("DELETE", path, data, status, **options)

    def upload(self, path: str, status: int = 201, method: str = "POST", **form: Any) -> Any:
        """multipart/form-data; a file is any object Django's test client takes as one."""
        from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

        body = encode_multipart(BOUNDARY, form)
        return self.request(method, path, body, status, content_type=MULTIPART_CONTENT)

    def request(
        self,
        method: str,
        path: str,
        data: Any,
        status: int,
        *,
        content_type: str = JSON,
        headers: dict[str, str] | None = None,
    ) -> Any:
        response = self.raw(method, path, data, content_type=content_type, headers=headers)
        assert response.status_code == status, f"{method} {path}: {response.status_code} {response.content[:600]!r}"
        if response.headers.get("Content-Type", "").startswith(JSON):
            body = response.json()
            assert body["ok"] is (status < 400), body
            schema.hold(method, path, status, body)
            return body
        return response

    def raw(
        self,
        method: str,
        path: str,
        data: Any = None,
        *,
        content_type: str = JSON,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """The response itself, whatever its status."""
        sent = dict(self.headers) | (headers or {})
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        if data is None:
            body: Any = b""
        elif isinstance(data, bytes | str):
            body = data
        else:
            body = json.dumps(data)
        return self._client.generic(method, path, body, content_type=content_type, headers=sent)
