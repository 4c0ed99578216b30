"""Typing notices and presence reach only the users who may see them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import User
from accounts.services import profile
from messaging.selectors import presence_viewers_of, presence_visible_to
from messaging.services import conversations, messages
from realtime.models import Socket
from tests.factories import make_user, sign_in
from tests.realtime.phones import block, conversation_of


@pytest.fixture
def chat(alice, bob):
    number = conversation_of(alice, bob)
    for sender in (alice, bob):
        messages.send(sender=sender, conversation_id=number, body="hi")
    return number


@pytest.fixture
def device(open_socket):
    return lambda user, **options: open_socket(sign_in(user)[1], **options)


def test_a_list_that_is_too_long_is_refused_in_one_sentence(device, alice):
    answer = device(alice).command("presence.watch", user_ids=[0] * 20_000)
    assert answer["error"] == "validation_error"
    assert answer["fields"] == {"user_ids": ["Ensure this field has no more than 100 elements."]}


def about(frames, type):
    return [frame["data"] for frame in frames if frame["type"] == type]


def test_typing_reaches_the_other_one_alone(device, alice, bob, charlie, chat):
    writer, own_tablet, reader, other_user = device(alice), device(alice), device(bob), device(charlie)
    assert writer.command("typing", conversation_id=chat, is_typing=True)["ok"]
    assert reader.expect("typing") == {
        "type": "typing",
        "data": {"conversation_id": chat, "user_id": alice.id, "is_typing": True},
    }
    assert writer.command("typing", conversation_id=chat, is_typing=False)["ok"]
    assert reader.expect("typing")["data"]["is_typing"] is False
    for other in (writer, own_tablet, other_user):
        assert about(other.silence(0.2), "typing") == []
    assert other_user.command("typing", conversation_id=chat, is_typing=True)["error"] == "conversation_not_found"
    assert writer.command("typing", conversation_id=chat, is_typing="yes")["fields"].keys() == {"is_typing"}


def test_a_block_stops_typing_and_presence(device, alice, bob, chat):
    writer, reader = device(alice), device(bob)
    assert reader.command("presence.watch", user_ids=[alice.id])["data"]["presence"][0]["online"] is True
    block(bob, alice)
    assert writer.command("typing", conversation_id=chat, is_typing=True)["error"] == "user_blocked"
    writer.close()
    device(alice)
    assert about(reader.silence(0.5), "typing") == []
    seen = about(reader.frames, "presence")
    assert [state["online"] for state in seen] == [True]
    assert reader.command("presence.watch", user_ids=[alice.id])["data"] == {"presence": []}


def test_online_and_offline_are_sent_to_watchers(device, alice, bob, chat):
    watcher, deaf = device(alice), device(alice)
    answer = watcher.command("presence.watch", user_ids=[bob.id])["data"]
    assert answer == {"presence": [{"user_id": bob.id, "online": False, "last_seen_at": None}]}
    first, second = device(bob), device(bob)
    assert watcher.expect("presence")["data"] == {"user_id": bob.id, "online": True, "last_seen_at": None}
    first.close()
    assert about(watcher.silence(0.4), "presence") == []
    second.close()
    event = watcher.expect("presence")["data"]
    bob.refresh_from_db()
    assert bob.last_seen_at is not None
    assert event == {
        "user_id": bob.id,
        "online": False,
        "last_seen_at": bob.last_seen_at.isoformat().replace("+00:00", "Z"),
    }
    assert about(deaf.silence(0.2), "presence") == []


def test_who_is_already_there_is_said_at_once(device, alice, bob, chat):
    device(bob)
    watcher = device(alice)
    watcher.command("presence.watch", user_ids=[bob.id])
    assert watcher.expect("presence")["data"]["online"] is True


def test_the_user_of_a_killed_process_goes_offline(device, alice, bob, chat, settings):
    settings.REALTIME_SWEEP_SECONDS = settings.REALTIME_SWEEP_SECONDS_EMBEDDED = 0.1
    User.objects.filter(id=alice.id).update(last_seen_at=(later := timezone.now() + timedelta(minutes=1)))
    touched_at = timezone.now() - timedelta(minutes=4)
    for person in (alice, bob):
        Socket.objects.create(id=f"killed-{person.id}", user=person, session_id=1)
    watcher = device(alice)
    assert watcher.command("presence.watch", user_ids=[bob.id])["data"]["presence"][0]["online"] is True
    watcher.expect("presence", online=True)
    Socket.objects.filter(id__startswith="killed").update(seen_at=touched_at)
    assert watcher.expect("presence")["data"] == {
        "user_id": bob.id,
        "online": False,
        "last_seen_at": touched_at.isoformat().replace("+00:00", "Z"),
    }
    alice.refresh_from_db()
    assert alice.last_seen_at == later


def test_presence_is_for_contacts_only_and_not_of_users_who_hide_it(device, alice, bob, charlie, chat):
    device(charlie)
    User.objects.filter(id=bob.id).update(show_last_seen=False)
    watcher = device(alice)
    answer = watcher.command("presence.watch", user_ids=[bob.id, charlie.id, alice.id, 999_999])
    assert answer["data"] == {"presence": []}
    device(bob)
    device(charlie)
    assert about(watcher.silence(0.5), "presence") == []


def test_hiding_and_showing_again_reach_the_watchers_at_once(device, alice, bob, charlie, chat):
    watcher, other = device(alice), device(charlie)
    watcher.command("presence.watch", user_ids=[bob.id])
    other.command("presence.watch", user_ids=[bob.id])
    device(bob)
    assert watcher.expect("presence")["data"]["online"] is True
    profile.set_privacy(user=bob, show_last_seen=False)
    assert watcher.expect("presence")["data"] == {"user_id": bob.id, "online": False, "last_seen_at": None}
    profile.set_privacy(user=bob, show_last_seen=False, read_receipts=False)
    profile.set_privacy(user=bob, show_last_seen=True)
    assert watcher.expect("presence")["data"] == {"user_id": bob.id, "online": True, "last_seen_at": None}
    assert about(watcher.silence(0.3), "presence") == []
    assert about(other.frames, "presence") == []


def test_a_hundred_people_can_be_watched(device, alice):
    watcher = device(alice)
    others = list(range(1000, 1100))
    assert watcher.command("presence.watch", user_ids=others)["ok"]
    reply = watcher.command("presence.watch", user_ids=[*others, 5])
    assert (reply["error"], list(reply["fields"])) == ("validation_error", ["user_ids"])
    assert watcher.command("presence.watch", user_ids=[True])["error"] == "validation_error"


def test_watching_again_replaces_what_was_watched(device, alice, bob, chat):
    other = make_user("Dora")
    messages.send(sender=alice, conversation_id=conversation_of(alice, other), body="hi")
    watcher = device(alice)
    watcher.command("presence.watch", user_ids=[bob.id])
    watcher.command("presence.watch", user_ids=[other.id])
    device(bob)
    device(other)
    assert watcher.expect("presence")["data"]["user_id"] == other.id
    assert about(watcher.silence(0.3), "presence") == []


@pytest.mark.parametrize(
    ("who_can_message", "written_by", "seen"),
    [
        ("everyone", "", False),
        ("everyone", "alice", True),
        ("contacts", "alice", False),
        ("contacts", "bob", True),
        ("nobody", "alice", False),
        ("nobody", "bob", True),
    ],
)
def test_presence_follows_the_permission_to_write(open_socket, alice, bob, who_can_message, written_by, seen):
    """Alice watches Bob: both at once, and when he comes and goes."""
    conversation, _ = conversations.start(starter=alice, user_id=bob.id)
    writers = {"alice": alice, "bob": bob}
    if written_by == "bob":
        conversations.start(starter=bob, user_id=alice.id)
    if written_by:
        messages.send(sender=writers[written_by], conversation_id=conversation.id, body="hi")
    User.objects.filter(id=bob.id).update(who_can_message=who_can_message)
    watcher = open_socket(sign_in(alice)[1])
    answer = watcher.command("presence.watch", user_ids=[bob.id])["data"]["presence"]
    assert [state["user_id"] for state in answer] == ([bob.id] if seen else [])
    open_socket(sign_in(bob)[1])
    received = [frame["data"]["online"] for frame in watcher.silence(0.5) if frame["type"] == "presence"]
    assert received == ([True] if seen else [])


@pytest.mark.parametrize("who_can_message", ["everyone", "contacts"])
@pytest.mark.parametrize(
    ("writers", "deleted", "cleared", "seen"),
    [
        # Who writes, whose message is deleted, who clears; and whether Alice then sees Bob.
        ("a", "a", "", False),
        ("ab", "", "", True),
        ("ab", "a", "", True),
        ("ab", "ab", "", False),
        ("b", "b", "", False),
        ("ab", "", "a", True),
        ("ab", "", "b", True),
        ("ab", "", "ab", False),
        ("ab", "a", "ab", False),
    ],
)
def test_presence_counts_messages_that_still_exist(
    transactional_db, alice, bob, who_can_message, writers, deleted, cleared, seen
):
    people = {"a": alice, "b": bob}
    talk = conversation_of(alice, bob)
    conversations.start(starter=bob, user_id=alice.id)
    sent = {name: messages.send(sender=people[name], conversation_id=talk, body="hi")[0] for name in writers}
    for name in deleted:
        messages.delete(user=people[name], message_id=sent[name].id)
    for name in cleared:
        conversations.clear(user_id=people[name].id, conversation_id=talk)
    User.objects.filter(id=bob.id).update(who_can_message=who_can_message)
    visible = seen and (who_can_message == "everyone" or "b" in writers)
    assert (bob.id in presence_visible_to(alice.id, [bob.id])) is visible
    assert (alice.id in set(presence_viewers_of(bob.id).values_list("user_id", flat=True))) is visible
