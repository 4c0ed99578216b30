"""Sign in, hear what happens, say something, come back."""

import json

import pytest
from django.db import OperationalError
from django.utils import timezone

from accounts.services import account_status
from accounts.sign_in import sessions
from messaging.services import conversations, messages
from notifications import selectors
from notifications.services.delivery import SocketStatusQuery
from realtime.services import sockets
from tests.client import ApiClient
from tests.factories import make_user, sign_in
from tests.waiting import wait_for


@pytest.fixture
def token_of(transactional_db):
    return lambda user: sign_in(user)[1]


@pytest.fixture
def conversation(alice, bob):
    return conversations.start(starter=alice, user_id=bob.id)[0].id


def send_message(sender, conversation_id, body, **fields):
    return messages.send(sender=sender, conversation_id=conversation_id, body=body, **fields)[0]


def test_a_message_reaches_the_devices_of_both_participants(open_socket, token_of, alice, bob, conversation):
    alices, bobs = open_socket(token_of(alice)), open_socket(token_of(bob), by_header=True)
    assert set(alices.ready) == {"user_id", "epoch", "seq", "min_seq", "ping_s", "window", "calls", "version"}
    assert alices.ready["user_id"] == alice.id
    reply = alices.command("message.send", conversation_id=conversation, body="hi", client_id="8f0c")
    assert (reply["ok"], set(reply["data"])) == (True, {"message"})
    message = reply["data"]["message"]
    assert (message["body"], message["client_id"]) == ("hi", "8f0c")
    received = bobs.expect("message.new")
    # The conversation itself is announced together with its first message.
    assert received["seq"] == bobs.ready["seq"] + 2
    assert received["data"]["message"] == message | {"client_id": None}
    assert (received["data"]["conversation_id"], received["data"]["unread_count"]) == (conversation, 1)
    assert bobs.expect("badge")["data"]["message_unread_count"] == 1
    own = alices.expect("message.new")
    assert (own["data"]["message"], own["data"]["unread_count"]) == (message, 0)
    read = bobs.command("conversation.read", conversation_id=conversation)
    assert read["data"] == {"last_read_id": message["id"], "unread_count": 0, "message_unread_count": 0}
    assert alices.expect("conversation.read")["data"]["last_read_id"] == message["id"]
    assert bobs.expect("conversation.read", user_id=bob.id)["data"]["unread_count"] == 0


def test_an_acknowledgement_with_a_ref_gets_a_reply(open_socket, alice):
    socket = open_socket(sign_in(alice)[1])
    assert socket.command("ack", seq=0)["data"] == {}
    socket.send("ack", {"seq": 0})
    assert [frame for frame in socket.silence(0.5) if frame["type"] == "reply"] == []


def test_what_was_read_is_not_announced_as_delivered_again(open_socket, alice, bob, conversation):
    alices, bobs = open_socket(sign_in(alice)[1]), open_socket(sign_in(bob)[1], acks=False)
    sent = [send_message(alice, conversation, text) for text in ("1", "2")]
    first, second = bobs.expect("message.new"), bobs.expect("message.new")
    bobs.command("conversation.read", conversation_id=conversation, message_id=sent[1].id)
    alices.expect("conversation.read")
    bobs.send("ack", {"seq": first["seq"]})
    assert [frame for frame in alices.silence(1) if frame["type"] == "conversation.delivered"] == []
    bobs.send("ack", {"seq": second["seq"]})
    assert alices.expect("conversation.delivered")["data"]["delivered_id"] == sent[1].id


def test_counters_that_could_not_be_read_follow(open_socket, token_of, alice, bob, conversation, monkeypatch):
    counts, failures = selectors.counts, [OperationalError("the database restarts")]

    def fails_once(user_id):
        if failures:
            raise failures.pop()
        return counts(user_id)

    monkeypatch.setattr(selectors, "counts", fails_once)
    phone = open_socket(token_of(bob))
    send_message(alice, conversation, "hi")
    assert phone.expect("badge", timeout=5)["data"]["message_unread_count"] == 1
    assert failures == []


def test_an_acknowledgement_just_before_the_close_counts(open_socket, alice, bob, conversation):
    alices, bobs = open_socket(sign_in(alice)[1]), open_socket(sign_in(bob)[1], acks=False)
    for body in ("one", "two"):
        message = send_message(alice, conversation, body)
        # The second follows while the first is recorded or its pause lasts.
        bobs.send("ack", {"seq": bobs.expect("message.new")["seq"]})
    bobs.close()
    ticked = alices.expect("conversation.delivered", delivered_id=message.id)
    assert ticked["data"]["user_id"] == bob.id


def test_an_acknowledgement_is_the_second_tick_and_spares_the_push(open_socket, alice, bob, conversation):
    session, token = sign_in(bob)
    alices, bobs = open_socket(sign_in(alice)[1]), open_socket(token, acks=False)
    message = send_message(alice, conversation, "hi")
    question = SocketStatusQuery(bob.id, session.id, timezone.now())
    received = bobs.expect("message.new")
    latest = bobs.silence(0.5)
    assert sockets.socket_statuses([question, question._replace(session_id=10**6)]) == ["connected", "absent"]
    bobs.send("ack", {"seq": max([received["seq"], *(frame["seq"] for frame in latest if "seq" in frame)])})
    ticked = alices.expect("conversation.delivered")
    assert ticked["data"] == {"conversation_id": conversation, "user_id": bob.id, "delivered_id": message.id}
    assert sockets.socket_statuses([question]) == ["seen"]
    send_message(alice, conversation, "and now?")
    assert sockets.socket_statuses([question._replace(since=timezone.now())]) == ["connected"]


def test_a_device_that_resumes_has_what_it_acknowledged_before(open_socket, alice, bob, conversation):
    """A push that waits for its minute is not sent for what the device has shown before it connected again."""
    session, token = sign_in(bob)
    phone = open_socket(token)
    send_message(alice, conversation, "hi")
    question = SocketStatusQuery(bob.id, session.id, timezone.now())
    phone.expect("message.new")
    phone.silence(0.5)
    assert sockets.socket_statuses([question]) == ["seen"]
    phone.close()
    place = {"epoch": phone.ready["epoch"], "seq": phone.events[-1]["seq"]}
    open_socket(token, resume=place).expect("synced")
    wait_for(lambda: sockets.socket_statuses([question]) == ["seen"], what="the record of the resume")


def test_reading_over_rest_and_socket_is_the_same(open_socket, as_bob, alice, bob, conversation):
    start = as_bob.get("/api/v1/realtime/changes")
    for n in range(3):
        send_message(alice, conversation, f"{n}")
    changes = as_bob.get(f"/api/v1/realtime/changes?epoch={start['epoch']}&since={start['seq']}")
    bobs = open_socket(as_bob.token, resume={"epoch": start["epoch"], "seq": start["seq"]})
    bobs.expect("synced")
    assert bobs.events == changes["events"]
    assert (changes["has_more"], changes["reset"]) == (False, False)
    assert (changes["seq"], changes["epoch"]) == (bobs.events[-1]["seq"], bobs.ready["epoch"])


def test_a_deleted_message_replays_as_deleted(open_socket, token_of, alice, bob, conversation):
    token = token_of(bob)
    start = open_socket(token).ready
    secret = send_message(alice, conversation, "the secret")
    send_message(alice, conversation, "the rest")
    messages.edit(editor=alice, message_id=secret.id, body="the second secret")
    messages.delete(user=alice, message_id=secret.id)
    again = open_socket(token, resume={"epoch": start["epoch"], "seq": start["seq"]})
    assert again.expect("synced")["data"] == {"seq": again.ready["seq"]}
    about = [f for f in again.events if f["data"].get("message_id") == secret.id]
    assert [frame["type"] for frame in about] == ["message.deleted"] * 3
    assert set(about[0]["data"]) == {"conversation_id", "message_id", "unread_count", "last_message"}
    assert about[0]["data"]["last_message"]["body"] == "the rest"
    assert "secret" not in str(again.frames)
    assert [frame["seq"] for frame in again.events] == list(range(start["seq"] + 1, again.ready["seq"] + 1))


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ({"epoch": "other", "seq": 1}, "epoch"),
        ({"epoch": "x" * 65, "seq": 1}, "epoch"),
        ({"seq": 10**9}, "ahead"),
        ({"seq": 10**400}, "ahead"),
        ({"seq": 0}, "too_old"),
    ],
)
def test_what_cannot_be_resumed_is_said(open_socket, as_bob, alice, bob, conversation, settings, place, reason):
    from django.utils import timezone

    from realtime.services import event_log

    for n in range(5):
        send_message(alice, conversation, f"{n}")
    settings.REALTIME_EVENTS_KEPT = 2
    event_log.prune(now=timezone.now(), batch=100)
    position = event_log.position(bob.id)
    resume = {"epoch": position.epoch} | place
    phone = open_socket(as_bob.token, resume=resume)
    assert phone.expect("resync")["data"] == {"reason": reason, "seq": position.head_seq}
    assert phone.ready["min_seq"] == position.head_seq - 2
    send_message(alice, conversation, "after")
    assert phone.expect("message.new")["seq"] == position.head_seq + 1
    path = f"/api/v1/realtime/changes?epoch={resume['epoch']}&since={resume['seq']}"
    answer = as_bob.get(path)
    assert (answer["reset"], answer["events"]) == (True, [])
    # On the open socket it is the same, and what can be resumed comes again.
    phone.send("resume", resume)
    assert phone.expect("resync")["data"]["reason"] == reason
    phone.send("resume", {"epoch": position.epoch, "seq": position.head_seq})
    assert phone.expect("message.new")["seq"] == position.head_seq + 1
    phone.expect("synced")


def test_what_is_written_while_a_resume_fails_is_sent(open_socket, as_bob, alice, conversation, monkeypatch):
    from realtime.services import event_log

    phone = open_socket(as_bob.token)
    positions = event_log.positions

    def positions_before_a_message(user_ids):
        read = positions(user_ids)
        send_message(alice, conversation, "meanwhile")
        return read

    monkeypatch.setattr(event_log, "positions", positions_before_a_message)
    phone.send("resume", {"epoch": "other", "seq": 1})
    assert phone.expect("resync")["data"]["seq"] == phone.ready["seq"]
    # Before the sweep and the next ping, which read the position again.
    assert phone.expect("message.new", timeout=2)["data"]["message"]["body"] == "meanwhile"


def test_changes_come_in_pages(as_bob, alice, bob, conversation):
    for n in range(7):
        send_message(alice, conversation, f"{n}")
    whole = as_bob.get("/api/v1/realtime/changes?since=0&limit=500")
    pages, since = [], 0
    while True:
        page = as_bob.get(f"/api/v1/realtime/changes?epoch={whole['epoch']}&since={since}&limit=3")
        pages += page["events"]
        since = page["seq"]
        if not page["has_more"]:
            break
    assert pages == whole["events"]
    assert as_bob.get("/api/v1/realtime/changes") == {
        "ok": True, "epoch": whole["epoch"], "events": [], "seq": whole["seq"], "has_more": False, "reset": False,
    }  # fmt: skip
    for wrong in (
        "limit=0",
        "limit=x",
        "limit=",
        "limit=-3",
        "since=-1",
        "since=x",
        "since=1.5",
        "since=1.0",
        "since=",
    ):
        assert as_bob.get(f"/api/v1/realtime/changes?{wrong}", status=400)["error"] == "validation_error"
    assert len(as_bob.get("/api/v1/realtime/changes?since=0&limit=100000")["events"]) == len(whole["events"])


def test_two_hundred_events_take_a_handful_of_queries(as_bob, alice, bob, conversation, django_assert_max_num_queries):
    for n in range(100):
        send_message(alice, conversation, f"{n}")
    with django_assert_max_num_queries(8):
        page = as_bob.get("/api/v1/realtime/changes?since=0&limit=200")
    assert len(page["events"]) >= 100


def test_a_changed_profile_reaches_every_own_device_whole(
    open_socket, as_alice, as_bob, token_of, alice, bob, conversation
):
    send_message(alice, conversation, "hi")
    phones, other = [open_socket(token_of(alice)) for _ in range(2)], open_socket(token_of(bob))
    as_alice.patch("/api/v1/profile", {"first_name": "Alicia", "bio": "Radio."})
    own = as_alice.get("/api/v1/profile")
    for phone in phones:
        assert phone.expect("profile.updated")["data"] == {"user": own["profile"]}
    assert own["profile"]["bio"] == "Radio." and own["profile"]["email"] == alice.email
    assert "profile.updated" not in {frame["type"] for frame in other.silence()}


def test_devices_signed_in_before_learn_that_the_address_is_confirmed(open_socket, live):
    ann = make_user(verified=False)
    token = sign_in(ann)[1]
    phone, app = open_socket(token), ApiClient(token)
    account_status.mark_verified(user=ann, actor="cli:test", reason="")
    user = phone.expect("profile.updated")["data"]["user"]
    assert user == app.get("/api/v1/profile")["profile"]
    assert user["is_verified"] is True


def test_a_confirmation_before_the_first_sign_in_sends_no_event(live):
    ann = make_user(verified=False)
    account_status.mark_verified(user=ann, actor="cli:test", reason="")
    assert ApiClient(sign_in(ann)[1]).get("/api/v1/realtime/changes")["seq"] == 0


def test_errors_speak_the_readers_language(open_socket, alice, token_of):
    alice.language = "de"
    alice.save()
    client = open_socket(token_of(alice))
    reply = client.command("message.delete", message_id=1)
    assert (reply["error"], reply["message"]) == ("message_not_found", "Diese Nachricht gibt es nicht.")
    assert client.command("message.explode")["fields"] == {"type": ["Diesen Befehl gibt es nicht."]}
    client.raw("no JSON")
    assert client.expect("reply")["message"] == "Der Frame ist kein JSON."
    assert client.command("resume", epoch="e", seq="x")["fields"]["seq"] == ["Eine gültige Ganzzahl ist erforderlich."]
    assert client.command("ack", seq="x")["fields"] == {"seq": ["Eine gültige Ganzzahl ist erforderlich."]}
    assert client.command("auth", token="nonsense")["message"] == "Ein gültiges Token ist nötig."


def test_a_refused_sign_in_speaks_the_clients_language(open_socket, alice):
    session, token = sign_in(alice)
    sessions.end(user=alice, session_id=session.id)
    client = open_socket(headers={"Accept-Language": "de"})
    reply = client.command("auth", token=token)
    assert (reply["error"], reply["message"]) == (
        "token_revoked",
        "Diese Sitzung ist beendet. Bitte melde dich neu an.",
    )


@pytest.mark.parametrize(
    ("accepted", "language"), [("xx", "de"), ("*", "de"), ("xx, fr;q=0.5", "fr"), ("fr-CA", "fr"), ("", "de")]
)
def test_the_header_chooses_the_language_as_over_rest(open_socket, alice, token_of, accepted, language):
    alice.language = "de"
    alice.save()
    token = token_of(alice)
    client = open_socket(token, headers={"Accept-Language": accepted})
    over_rest = ApiClient(token).raw("DELETE", "/api/v1/messages/messages/1", headers={"Accept-Language": accepted})
    assert over_rest["Content-Language"] == language
    assert client.command("message.delete", message_id=1)["message"] == json.loads(over_rest.content)["message"]


def test_what_changes_nothing_makes_no_event(open_socket, as_bob, alice, bob, conversation):
    message = send_message(alice, conversation, "hi", client_id="once")
    head = as_bob.get("/api/v1/realtime/changes")["seq"]
    send_message(alice, conversation, "hi", client_id="once")
    messages.edit(editor=alice, message_id=message.id, body="hi")
    phone = open_socket(as_bob.token)
    assert phone.command("message.edit", message_id=message.id, body="x")["error"] == "not_message_owner"
    assert phone.command("message.send", conversation_id=conversation, body="  ")["error"] == "validation_error"
    for _ in range(2):
        phone.command("conversation.read", conversation_id=conversation)
    after = as_bob.get(f"/api/v1/realtime/changes?since={head}")["events"]
    assert [frame["type"] for frame in after].count("conversation.read") == 1
    assert [frame["type"] for frame in after if frame["type"].startswith("message.")] == []
