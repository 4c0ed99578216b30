"""The clock jumps, and nodes disagree by seconds: expiry stays exact, and no user is locked out for ever."""

from datetime import timedelta

import pytest

from accounts.sign_in import codes
from messaging.services import conversations, messages
from tests.client import ApiClient
from tests.factories import PASSWORD, sign_in

AUTH = "/api/v1/auth"
JUMPS = [{"hours": 1}, {"hours": -1}, {"days": 8}, {"days": -8}, {"seconds": 20}, {"seconds": -20}]
jumps = pytest.mark.parametrize("jump", JUMPS, ids=str)


def lock(anonymous, user):
    for _ in range(5):
        anonymous.post(f"{AUTH}/login", {"email": user.email, "password": "wrong"}, status=401)
    return anonymous.post(f"{AUTH}/login", {"email": user.email, "password": PASSWORD}, status=429)["retry_after"]


@jumps
def test_a_wait_ends_after_a_jump(anonymous, alice, clock, jump):
    wait = lock(anonymous, alice)
    clock.forward(**jump)
    # Never longer than the longest wait there is, wherever the clock went; then the right password counts.
    clock.forward(seconds=900 + 1)
    assert 0 < wait <= 900
    anonymous.post(f"{AUTH}/login", {"email": alice.email, "password": PASSWORD})


@jumps
def test_a_code_lives_ten_minutes_of_the_clock(anonymous, alice, clock, jump):
    clock.forward(**jump)
    for age, status in ((600 - 2, 200), (600 + 2, 400)):
        code = codes.issue(user=alice, purpose="reset", address=alice.email)
        clock.forward(seconds=age)
        data = {"email": alice.email, "code": code, "new_password": f"another horse {age}"}
        anonymous.post(f"{AUTH}/verify-reset", data, status=status)


@jumps
def test_a_token_lives_seven_days_of_the_clock(alice, clock, jump):
    clock.forward(**jump)
    client = ApiClient(sign_in(alice)[1])
    client.get(f"{AUTH}/me")
    clock.forward(days=7, seconds=-5)
    client.get(f"{AUTH}/me")
    # Thirty seconds of leeway for nodes that disagree.
    clock.forward(seconds=5 + 31)
    assert client.get(f"{AUTH}/me", status=401)["error"] == "token_expired"


@pytest.mark.parametrize("ahead", [20, -20])
def test_nodes_that_disagree_take_each_others_tokens(alice, clock, ahead):
    client = ApiClient(sign_in(alice)[1])
    clock.forward(seconds=ahead)
    client.get(f"{AUTH}/me")
    renewed = ApiClient(client.post(f"{AUTH}/refresh")["token"])
    clock.forward(seconds=-ahead)
    renewed.get(f"{AUTH}/me")


@pytest.mark.django_db(transaction=True)
@jumps
def test_order_and_counts_do_not_follow_the_clock(as_alice, as_bob, alice, bob, clock, jump):
    conversation_id = conversations.start(starter=alice, user_id=bob.id)[0].id
    path = f"/api/v1/messages/conversations/{conversation_id}"
    sent = [messages.send(sender=alice, conversation_id=conversation_id, body="before")[0].id]
    clock.forward(**jump)
    alice_now, bob_now = (ApiClient(sign_in(person)[1]) for person in (alice, bob))
    sent.append(messages.send(sender=alice, conversation_id=conversation_id, body="after")[0].id)
    sent.append(messages.send(sender=bob, conversation_id=conversation_id, body="an answer")[0].id)
    clock.ahead = timedelta()
    sent.append(messages.send(sender=alice, conversation_id=conversation_id, body="back again")[0].id)
    assert sent == sorted(sent)
    listed = as_bob.get(f"{path}/messages")["messages"]
    assert [message["id"] for message in listed] == sent[::-1]
    page = as_bob.get(f"{path}/messages?limit=2&before={sent[2]}")["messages"]
    assert [message["id"] for message in page] == [sent[1], sent[0]]
    shown = as_bob.get("/api/v1/messages/conversations")["conversations"][0]
    assert (shown["last_message"]["body"], shown["unread_count"]) == ("back again", 3)
    assert as_bob.get("/api/v1/notifications/unread-count")["message_unread_count"] == 3
    assert as_bob.post(f"{path}/read", {})["unread_count"] == 0
    changes = as_alice.get("/api/v1/realtime/changes")
    events = as_alice.get(f"/api/v1/realtime/changes?epoch={changes['epoch']}&since=0")["events"]
    assert [event["seq"] for event in events] == list(range(1, changes["seq"] + 1))
    received = [event["data"]["message"]["id"] for event in events if event["type"] == "message.new"]
    assert received == sent
    assert alice_now.token != bob_now.token
