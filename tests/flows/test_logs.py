"""What a server writes down while people use it: who did what with which outcome, and no secret."""

import json

import pytest

from tests.flows.people import Person
from tests.waiting import wait_for

BODY = "the cake is under the stairs"


@pytest.fixture
def alice(server):
    person = Person(server, "Alice")
    yield person
    person.close()


def test_json_lines_tell_outcomes_and_no_secret(server, mail_sink, alice):
    server.environment["LOG_FORMAT"] = "json"
    server.start()
    bob = Person(server, "Bob")
    for person in (alice, bob):
        person.sign_up(mail_sink)
    code = mail_sink.code_for(alice.email)
    password = "a long word for alices"
    first_token = alice.token
    alice.token = ""
    alice.call("POST", "/auth/login", {"email": alice.email, "password": "certainly wrong 1"}, status=401)
    alice.token = alice.call("POST", "/auth/login", {"email": alice.email, "password": password})["token"]
    refreshed = alice.call("POST", "/auth/refresh")["token"]
    conversation = alice.call("POST", "/messages/conversations", {"user_id": bob.id}, status=201)["conversation"]
    alice.send(conversation["id"], BODY, "c1")
    alice.call("POST", "/profile/push-token", {"token": "push-token-of-alice"})
    socket = alice.socket()
    socket.close()
    alice.call("POST", "/auth/forgot-password", {"email": alice.email})
    wait_for(lambda: mail_sink.code_for(alice.email) != code, what="the reset code")
    reset_code = mail_sink.code_for(alice.email)
    alice.call("POST", "/auth/logout")
    bob.close()
    assert server.stop() == 0

    text = server.log.read_text()
    for secret in (password, "certainly wrong 1", first_token, alice.token, refreshed, BODY, "push-token-of-alice"):
        assert secret not in text
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert not any(code in line["message"] or reset_code in line["message"] for line in lines)
    assert not any("color_message" in line for line in lines)
    asked = [line for line in lines if line["logger"] == "parley.access"]
    assert all(line["request_id"] and line["status"] and line["at"].endswith("+00:00") for line in asked)
    logins = [line for line in asked if line["message"].startswith("POST /api/v1/auth/login")]
    assert [(line["status"], line.get("error")) for line in logins] == [(401, "invalid_credentials"), (200, None)]
    assert logins[1]["user_id"] == alice.id
    assert logins[1]["session_id"]
    (out,) = [line for line in asked if line["message"].startswith("POST /api/v1/auth/logout")]
    assert (out["user_id"], out["session_id"]) == (alice.id, logins[1]["session_id"])
