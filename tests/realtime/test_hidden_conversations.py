"""A conversation without a message does not exist for the participant who did not open it, on any route or command."""

import json

import pytest

from messaging.services import conversations, messages
from realtime.services import typing
from realtime.socket_commands import COMMANDS
from tests.client import ApiClient
from tests.contract.test_declared_rates import all_views
from tests.factories import sign_in
from tests.messaging.test_permissions import picture

ABSENT = 2**53 - 7
DATA = {
    "message.send": {"body": "x"},
    "conversation.read": {},
    "typing": {"is_typing": True},
    "call.invite": {"media": "audio"},
}


def routes():
    """Method, path and body of every route that names a conversation."""
    for path, pattern in all_views():
        if "<str:conversation_id>" not in path:
            continue
        for method in getattr(pattern.callback, "actions", {}):
            if method != "head":
                yield method.upper(), f"/{path}"


def answer(client, method, path, conversation_id):
    path = path.replace("<str:conversation_id>", str(conversation_id)) + ("?q=x" if path.endswith("search") else "")
    if path.endswith("/media"):
        return {"status": 404} | client.upload(path, status=404, file=picture())
    response = client.raw(method, path, None if method == "GET" else {"body": "x"})
    return {"status": response.status_code} | json.loads(response.content)


def without_request_id(body):
    return {name: value for name, value in body.items() if name != "request_id"}


@pytest.fixture
def opened(alice, bob, transactional_db):
    return conversations.start(starter=alice, user_id=bob.id)[0]["id"]


def test_no_route_answers_the_other_participant(opened, alice, bob, as_alice):
    as_bob = ApiClient(sign_in(bob)[1])
    found = list(routes())
    assert len(found) == 7
    for method, path in found:
        hidden, absent = (without_request_id(answer(as_bob, method, path, number)) for number in (opened, ABSENT))
        assert hidden == absent, (method, path)
        assert hidden["error"] == "conversation_not_found", (method, path)
    assert as_bob.get("/api/v1/realtime/changes?since=0")["events"] == []
    assert conversations.mark_delivered(user_id=bob.id, delivered={opened: 1}) == {}
    # For the one who opened it all of them answer, and with the first message they do so for both.
    messages.send(sender=alice, conversation_id=opened, body="hi")
    for client in (as_alice, as_bob):
        for method, path in found:
            if not path.endswith("/media"):
                assert answer(client, method, path, opened)["status"] < 400, (method, path)


def test_no_command_answers_the_other_participant(opened, open_socket, alice, bob):
    alices, bobs = open_socket(sign_in(alice)[1]), open_socket(sign_in(bob)[1])
    taking = {name for name, command in COMMANDS.items() if "conversation_id" in command.input().fields}
    assert taking == set(DATA)
    for name, data in DATA.items():
        hidden, absent = (bobs.command(name, conversation_id=number, **data) for number in (opened, ABSENT))
        assert (hidden["error"], absent["error"]) == ("conversation_not_found",) * 2, name
        assert hidden["message"] == absent["message"]
    assert [frame["type"] for frame in alices.silence()] in ([], ["badge"])
    # A call shows the conversation to the person called before anybody has written.
    assert alices.command("call.invite", conversation_id=opened, media="audio")["ok"]
    assert bobs.expect("conversation.created")["data"]["conversation"]["id"] == opened
    assert bobs.command("typing", conversation_id=opened, is_typing=True)["ok"]


def test_the_quick_way_for_typing_notices_does_not_pass_it_either(opened, alice, bob):
    sessions = {user.id: sign_in(user)[0].id for user in (alice, bob)}
    notices = [typing.TypingNotice(sessions[user.id], user.id, opened, True) for user in (alice, bob)]
    assert typing.relay_typing_batch(notices) == [True, False]
