"""Many at once, with real threads on both databases."""

from functools import partial

import pytest
from django.db import transaction

from accounts.exceptions import UserBlocked
from accounts.services import erasure as accounts_erasure
from accounts.services import profile
from messaging.models import Conversation, Message, Participant, Report
from messaging.services import conversations, erasure, locking, messages, reactions, reports
from realtime.models import Event
from tests.client import ApiClient
from tests.factories import sign_in
from tests.messaging.conftest import API, conversation_path, message_path
from tests.parallel import parallel_outcomes, run_parallel, start_until_it_waits
from tests.server import ON_POSTGRES

pytestmark = pytest.mark.django_db(transaction=True)


def clients(user, count):
    token = sign_in(user)[1]
    return [ApiClient(token) for _ in range(count)]


def any_status(client, path, body):
    response = client.raw("POST", path, body)
    return response.status_code, response.json()


def test_fifty_sends_with_one_client_id_make_one_message(alice, bob, conversation):
    path = conversation_path(conversation, "/messages")
    body = {"body": "once", "client_id": "same"}
    replies = run_parallel([lambda c=c: any_status(c, path, body) for c in clients(alice, 50)])
    assert sorted(status for status, _ in replies) == [200] * 49 + [201]
    assert len({reply["message"]["id"] for _, reply in replies}) == 1
    assert Message.objects.count() == 1
    assert Participant.objects.get(user=bob).unread_count == 1


def test_one_client_id_in_two_conversations_at_once(alice, conversation, as_alice, charlie):
    other = as_alice.post(f"{API}/conversations", {"user_id": charlie.id}, status=201)["conversation"]["id"]
    jobs = [
        lambda c=c, n=number: any_status(c, conversation_path(n, "/messages"), {"body": "x", "client_id": "k"})
        for c, number in zip(clients(alice, 12), [conversation, other] * 6, strict=True)
    ]
    replies = run_parallel(jobs)
    assert sorted(status for status, _ in replies) == [200] * 5 + [201] + [409] * 6
    assert Message.objects.count() == 1


def test_twenty_starts_by_both_users_make_one_conversation(alice, bob):
    jobs = []
    for mine, theirs in zip(clients(alice, 10), clients(bob, 10), strict=True):
        jobs.append(lambda c=mine: any_status(c, f"{API}/conversations", {"user_id": bob.id}))
        jobs.append(lambda c=theirs: any_status(c, f"{API}/conversations", {"user_id": alice.id}))
    replies = run_parallel(jobs)
    assert sorted(status for status, _ in replies) == [200] * 19 + [201]
    assert len({reply["conversation"]["id"] for _, reply in replies}) == 1
    assert Conversation.objects.count() == 1
    assert Participant.objects.count() == 2


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer")
@pytest.mark.parametrize("act", ["send", "edit", "react"])
def test_a_block_stops_what_waits_for_the_conversation(act, alice, bob, conversation):
    text = {"sender": alice, "conversation_id": conversation, "body": "hi"}
    message_id = messages.send(**text)[0].id
    acts = {
        "send": partial(messages.send, **text),
        "edit": partial(messages.edit, editor=alice, message_id=message_id, body="changed"),
        "react": partial(reactions.add, user=alice, message_id=message_id, emoji="👍"),
    }
    with transaction.atomic():
        locking.lock(conversation, bob.id)
        waiting = start_until_it_waits(acts[act])
        parallel_outcomes(1, lambda _: profile.block(blocker=bob, blocked_id=alice.id))
    with pytest.raises(UserBlocked):
        waiting.end()


def test_a_reader_who_follows_by_after_misses_nothing(alice, bob, conversation):
    senders, each = 8, 12
    path = conversation_path(conversation, "/messages")
    seen = []

    def write(sender):
        for number in range(each):
            sender.post(path, {"body": f"{number}"}, status=201)

    def follow():
        reader, last = ApiClient(sign_in(bob)[1]), 0
        while len(seen) < senders * each:
            page = reader.get(f"{path}?after={last}&limit=7")["messages"]
            ids = [message["id"] for message in page][::-1]
            assert ids == sorted(ids)
            assert not ids or ids[0] > last
            seen.extend(ids)
            last = ids[-1] if ids else last

    writers = [*clients(alice, senders // 2), *clients(bob, senders // 2)]
    run_parallel([follow, *(lambda w=w: write(w) for w in writers)], seconds=90)
    assert seen == sorted(Message.objects.values_list("id", flat=True))
    assert len(seen) == senders * each


def test_counters_survive_everything_at_once(alice, bob, conversation):
    path = conversation_path(conversation, "/messages")

    def write_and_take_back(client):
        for number in range(6):
            made = client.post(path, {"body": "x"}, status=201)["message"]["id"]
            if number % 2:
                # 404 when one's own clearing was faster.
                assert client.raw("DELETE", f"{API}/messages/{made}").status_code in (200, 404)

    def read(client):
        for _ in range(6):
            client.post(conversation_path(conversation, "/read"))

    def clear(client):
        for _ in range(3):
            client.post(conversation_path(conversation, "/clear"))

    run_parallel(
        [
            *(lambda c=c: write_and_take_back(c) for c in [*clients(alice, 3), *clients(bob, 3)]),
            *(lambda c=c: read(c) for c in [*clients(alice, 1), *clients(bob, 1)]),
            *(lambda c=c: clear(c) for c in clients(bob, 1)),
        ],
        seconds=90,
    )
    for participant in Participant.objects.all():
        watermark = max(participant.last_read_id, participant.cleared_up_to_id)
        unread = Message.objects.filter(id__gt=watermark, deleted_at=None).exclude(sender_id=participant.user_id)
        assert participant.unread_count == unread.count()
        visible = Message.objects.filter(id__gt=participant.cleared_up_to_id, deleted_at=None).order_by("-id").first()
        assert participant.last_message_id == (visible.id if visible else None)


def test_a_message_is_deleted_once(alice, conversation):
    sent, _ = messages.send(sender=alice, conversation_id=conversation, body="x")

    def delete(client):
        return client.raw("DELETE", f"{API}/messages/{sent.id}", None).status_code

    statuses = run_parallel([lambda c=c: delete(c) for c in clients(alice, 8)])
    assert sorted(statuses) == [200] + [404] * 7


def test_seven_reactions_at_once_leave_six(alice, bob, conversation):
    sent, _ = messages.send(sender=alice, conversation_id=conversation, body="x")
    path = f"{API}/messages/{sent.id}/reactions"
    emoji = ["👍", "❤️", "😂", "🎉", "😮", "😢", "🔥"]
    jobs = [lambda c=c, e=e: any_status(c, path, {"emoji": e}) for c, e in zip(clients(bob, 7), emoji, strict=True)]
    assert sorted(status for status, _ in run_parallel(jobs)) == [200] * 6 + [400]


def test_an_account_is_erased_while_others_write_to_it(alice, bob, conversation):
    path = conversation_path(conversation, "/messages")

    def write(client):
        return {any_status(client, path, {"body": "x"})[0] for _ in range(15)}

    *statuses, erased = run_parallel(
        [*(lambda c=c: write(c) for c in clients(alice, 4)), lambda: accounts_erasure.erase(user_id=bob.id)]
    )
    assert erased
    # Refused as soon as the account is gone, and never a 500 because two waited for each other.
    assert set().union(*statuses) <= {201, 403}
    assert any_status(clients(alice, 1)[0], path, {"body": "x"})[0] == 403


def test_acknowledgements_beside_sends_and_reads_move_forward_only(alice, bob, charlie, conversation):
    chats = [conversation, conversations.start(starter=charlie, user_id=bob.id)[0].id]
    ids = {
        chat: [messages.send(sender=sender, conversation_id=chat, body=f"{n}")[0].id for n in range(8)]
        for chat, sender in zip(chats, (alice, charlie), strict=True)
    }
    jobs = []
    for n in range(8):
        # Each device has got as far in one conversation as the other has not in the other one.
        delivered = {chats[0]: ids[chats[0]][n], chats[1]: ids[chats[1]][7 - n]}
        jobs.append(lambda d=delivered: conversations.mark_delivered(user_id=bob.id, delivered=d))
        jobs.append(lambda n=n: messages.send(sender=alice, conversation_id=chats[0], body=f"more {n}"))
        jobs.append(
            lambda n=n: conversations.mark_read(reader_id=bob.id, conversation_id=chats[1], message_id=ids[chats[1]][n])
        )
    moved = [result for result in run_parallel(jobs)[::3] if result]
    bobs = {row.conversation_id: row for row in Participant.objects.filter(user=bob)}
    assert {chat: bobs[chat].delivered_id for chat in chats} == {chat: ids[chat][-1] for chat in chats}
    for chat in chats:
        # Every value was passed once at most: no signal comes twice.
        values = [result[chat] for result in moved if chat in result]
        assert len(values) == len(set(values))
    assert bobs[chats[0]].unread_count == 16
    assert (bobs[chats[1]].unread_count, bobs[chats[1]].last_read_id) == (0, ids[chats[1]][-1])


@pytest.mark.parametrize("round_number", range(5))
def test_first_messages_at_once_show_a_conversation_once(round_number, alice, bob):
    conversation_id = conversations.start(starter=alice, user_id=bob.id)[0].id
    send = partial(messages.send, sender=alice, conversation_id=conversation_id, body="hi")
    run_parallel([send] * 6)
    created = Event.objects.filter(type="conversation.created").values_list("user_id", flat=True)
    assert sorted(created) == sorted([alice.id, bob.id])


@pytest.mark.parametrize("_try", range(3))
def test_reports_at_once_make_one(alice, bob, as_alice, send_message, _try):
    path = message_path(send_message(as_alice)["id"], "/report")
    replies = run_parallel([lambda c=c: any_status(c, path, {"reason": "spam"}) for c in clients(bob, 12)])
    assert [status for status, _ in replies] == [201] * 12
    assert Report.objects.count() == 1


def test_a_report_beside_an_erasure_keeps_no_text(alice, bob, as_alice, send_message, monkeypatch):
    sent = send_message(as_alice, "private")
    store, erasing = Report.objects.get_or_create, []

    def store_late(**values):
        erasing.append(start_until_it_waits(lambda: erasure.erase_user(alice.id)))
        return store(**values)

    monkeypatch.setattr(Report.objects, "get_or_create", store_late)
    report = reports.report(reporter=bob, message_id=sent["id"], reason="spam")
    erasing[0].end()
    report.refresh_from_db()
    assert report.snapshot == {}
