"""Every reply with a session token says when it expires."""

from datetime import UTC, datetime

import jwt
import pytest

from accounts.tokens import SessionToken
from core.times import json_time
from tests import schema
from tests.client import ApiClient
from tests.factories import sign_in
from tests.reference.story import EVENT_KEY, Story


def test_the_document_has_both_or_neither():
    replies = {
        name: described
        for name, described in schema.document()["components"]["schemas"].items()
        if {"ok", "token"} <= described.get("properties", {}).keys()
    }
    assert len(replies) >= 5
    for name, described in replies.items():
        assert {"token", "expires_at"} <= set(described["required"]), name
        assert described["properties"]["expires_at"]["format"] == "date-time", name


@pytest.mark.timeout(300)
def test_the_time_is_that_of_the_token(db, settings, monkeypatch):
    settings.NOTIFICATIONS_EVENT_SOURCES = f"blog:{EVENT_KEY}:*"
    settings.INTEGRATIONS_IDENTITY_AUDIENCES = ["shop"]
    walked = set()
    request = ApiClient.request

    def note(client, method, path, *args, **options):
        body = request(client, method, path, *args, **options)
        if isinstance(body, dict) and "token" in body:
            walked.add(path.removeprefix("/api/v1/auth/"))
            assert body["expires_at"] == expiry(body["token"]), path
        return body

    monkeypatch.setattr(ApiClient, "request", note)
    Story().tell()
    assert walked >= {"verify", "login", "two-step", "two-step/forgot", "refresh", "change-password", "identity-token"}


def test_a_repeated_refresh_gives_a_token_of_the_same_generation(alice):
    client = ApiClient(sign_in(alice)[1])
    replies = [client.post("/api/v1/auth/refresh") for _ in range(3)]
    claims = [SessionToken(reply["token"]) for reply in replies]
    assert len({(one.sid, one.generation) for one in claims}) == 1
    assert len({reply["token"] for reply in replies}) == 3
    assert [reply["expires_at"] for reply in replies] == [expiry(reply["token"]) for reply in replies]


def expiry(token):
    claims = jwt.decode(token, options={"verify_signature": False})
    return json_time(datetime.fromtimestamp(claims["exp"], UTC))
