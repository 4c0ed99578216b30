"""Typing of many at once: the shared look lets through exactly what the ordinary way lets through."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.exceptions import APIException

from accounts.models import User
from accounts.sign_in import sessions
from realtime.services import presence
from realtime.services.presence import TypingNotice, relay_typing_batch, typing
from tests.factories import make_user, sign_in
from tests.realtime.phones import block, conversation_of, unblock


def passes_alone(notice, sid):
    try:
        user, _ = sessions.recheck(sid=sid, user_id=notice.user_id, generation=1)
        typing(actor=user, conversation_id=notice.conversation_id, is_typing=notice.is_typing)
    except APIException:
        return False
    return True


@pytest.mark.django_db
def test_together_the_same_pass_as_alone(alice, bob, charlie, django_assert_num_queries):
    now = timezone.now()
    chat = conversation_of(alice, bob)

    def partner(name, **fields):
        other = make_user(name)
        conversation_id = conversation_of(alice, other)
        User.objects.filter(id=other.id).update(**fields)
        return other, conversation_id

    quiet, quiet_chat = partner("Quiet", who_can_message="nobody")
    picky, picky_chat = partner("Picky", who_can_message="contacts")
    erased, erased_chat = partner("Gone", erased_at=now)
    barred, barred_chat = partner("Barred", blocked_at=now)
    back, back_chat = partner("Back", blocked_at=now - timedelta(days=2), blocked_until=now - timedelta(days=1))
    fresh, fresh_chat = partner("Fresh", email_verified_at=None)
    foe, foe_chat = partner("Foe")
    victim, victim_chat = partner("Victim")
    block(foe, alice)
    block(alice, victim)
    results = [
        (alice, chat, True), (bob, chat, True), (charlie, chat, False), (alice, 999_999, False),
        (alice, quiet_chat, False), (quiet, quiet_chat, True),
        (alice, picky_chat, False), (picky, picky_chat, True),
        (alice, erased_chat, False),
        (alice, barred_chat, True), (barred, barred_chat, False), (back, back_chat, True),
        (fresh, fresh_chat, False), (alice, fresh_chat, True),
        (alice, foe_chat, False), (foe, foe_chat, False), (alice, victim_chat, False), (victim, victim_chat, False),
    ]  # fmt: skip
    devices = {person.id: sign_in(person)[0] for person, *_ in results}
    ended, old = sign_in(alice)[0], sign_in(alice)[0]
    sessions.revoke([ended], reason="logout")
    type(old).objects.filter(id=old.id).update(expires_at=now - timedelta(seconds=1))
    cases = [
        (devices[person.id], TypingNotice(devices[person.id].id, person.id, conversation_id, True), ok)
        for person, conversation_id, ok in results
    ]
    cases += [(session, TypingNotice(session.id, alice.id, chat, True), False) for session in (ended, old)]
    # The session of another user proves nothing.
    notices = [*(notice for _, notice, _ in cases), TypingNotice(devices[bob.id].id, alice.id, chat, True)]
    with django_assert_num_queries(2):
        passed = relay_typing_batch(notices)
    assert passed == [*(ok for *_, ok in cases), False]
    assert [passes_alone(notice, session.sid) for session, notice, _ in cases] == [ok for *_, ok in cases]


def test_a_block_counts_from_the_next_frame_on_and_its_end_too(open_socket, alice, bob):
    chat = conversation_of(alice, bob)
    writer, reader = open_socket(sign_in(alice)[1]), open_socket(sign_in(bob)[1])
    for _ in range(3):
        assert writer.command("typing", conversation_id=chat, is_typing=True)["ok"]
        assert reader.expect("typing")["data"]["user_id"] == alice.id
        block(bob, alice)
        assert writer.command("typing", conversation_id=chat, is_typing=True)["error"] == "user_blocked"
        unblock(bob, alice)
    assert [frame for frame in reader.silence(0.3) if frame["type"] == "typing"] == []


def test_replies_keep_the_order_of_a_burst(open_socket, alice, bob):
    chat = conversation_of(alice, bob)
    writer, reader = open_socket(sign_in(alice)[1]), open_socket(sign_in(bob)[1])
    for ref in range(20):
        conversation_id = chat if ref % 3 else 999_999
        writer.send("typing", {"conversation_id": conversation_id, "is_typing": bool(ref % 2)}, ref=ref)
    replies = [writer.expect("reply") for _ in range(20)]
    assert [reply["ref"] for reply in replies] == list(range(20))
    assert [reply["ok"] for reply in replies] == [bool(ref % 3) for ref in range(20)]
    received = [reader.expect("typing")["data"]["is_typing"] for ref in range(20) if ref % 3]
    assert received == [bool(ref % 2) for ref in range(20) if ref % 3]


@pytest.fixture
def rate(settings, monkeypatch):
    settings.RATELIMIT_ENABLE = True
    monkeypatch.setattr(presence, "_typing_rate", presence.TypingRate())


def test_one_notice_a_second_of_a_user_and_conversation(open_socket, alice, bob, charlie, rate):
    """From all devices of the user; what is too much is dropped, and answered as ever."""
    chat, other = conversation_of(alice, bob), conversation_of(alice, charlie)
    devices = [open_socket(sign_in(alice)[1]) for _ in range(3)]
    reader, third = open_socket(sign_in(bob)[1]), open_socket(sign_in(charlie)[1])
    for number in range(30):
        devices[number % 3].send("typing", {"conversation_id": chat, "is_typing": True}, ref=number)
    assert devices[0].command("typing", conversation_id=other, is_typing=True)["ok"]
    for number in range(30):
        assert devices[number % 3].reply(number)["ok"]
    assert third.expect("typing")["data"]["is_typing"] is True
    received = [frame["data"]["is_typing"] for frame in reader.silence(0.4) if frame["type"] == "typing"]
    assert 1 <= len(received) <= 2
    time.sleep(1.1)
    assert devices[1].command("typing", conversation_id=chat, is_typing=True)["ok"]
    assert reader.expect("typing")["data"]["is_typing"] is True


def test_the_end_of_typing_is_relayed_at_once(rate):
    limit = presence.TypingRate()
    alternating = [limit.allows(1, 2, bool(number % 2 == 0)) for number in range(20)]
    assert alternating == [True, True] + [False] * 18
    assert limit.allows(1, 3, True) and limit.allows(2, 2, True)


def test_without_rates_every_notice_is_relayed(settings):
    settings.RATELIMIT_ENABLE = False
    limit = presence.TypingRate()
    assert all(limit.allows(1, 2, True) for _ in range(50))


def test_who_is_remembered_is_bounded(rate, monkeypatch):
    monkeypatch.setattr(presence, "TYPING_REMEMBERED", 10)
    limit = presence.TypingRate()
    assert all(limit.allows(number, 1, True) for number in range(50))
    assert len(limit._last) == 10
