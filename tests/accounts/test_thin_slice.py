"""The way of a new person through HTTP: sign up, confirm, sign in, stay, leave."""

import re

from django.core import mail

from tests.client import ApiClient

PERSON = {
    "first_name": "Ann",
    "last_name": "Example",
    "email": "Ann@Example.com",
    "password": "correct horse 9",
    "language": "de",
}


def test_the_whole_way(anonymous):
    assert anonymous.post("/api/v1/auth/signup", PERSON, status=201).keys() == {"ok", "message"}
    code = re.search(r"\b\d{6}\b", mail.outbox[-1].body)[0]
    body = anonymous.post("/api/v1/auth/verify", {"email": "ann@example.COM", "code": code})
    assert body.keys() == {"ok", "token", "user"}
    assert body["user"]["is_verified"] is True
    body = anonymous.post("/api/v1/auth/login", {"email": "ann@example.com", "password": "correct horse 9"})
    as_ann = ApiClient(body["token"])
    new = as_ann.post("/api/v1/auth/refresh")["token"]
    as_ann = ApiClient(new)
    assert as_ann.get("/api/v1/auth/me")["user"]["bio"] is None
    assert as_ann.post("/api/v1/auth/logout") == {"ok": True}
    assert as_ann.get("/api/v1/auth/me", status=401)["error"] == "token_revoked"
