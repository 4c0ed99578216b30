"""Typing of many at once: the shared look lets through exactly what the ordinary way lets through."""

from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.exceptions import APIException

from accounts.models import User
from accounts.services import sessions
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
