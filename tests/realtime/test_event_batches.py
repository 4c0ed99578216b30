"""Events of several sockets are rendered together: each gets what it would get alone."""

import asyncio

from messaging.services import conversations, messages
from notifications.signals import social_event_happened
from realtime import selectors, socket_events
from realtime.consumers.database import Batcher
from realtime.devices import Device
from realtime.selectors import UserEvents
from tests.factories import make_user


def parts_of(*people):
    """The whole log of each of these people, in two halves, as two devices of theirs ask for them."""
    parts = []
    for person in people:
        events = selectors.events_after(person.id, 0, 100)
        middle = len(events) // 2
        parts += [UserEvents(Device(person.id, 0), half) for half in (events[:middle], events[middle:])]
    return parts


def talk(one, other):
    chat = conversations.start(starter=one, user_id=other.id)[0].id
    sent = [messages.send(sender=one, conversation_id=chat, body=f"{one.first_name} {n}")[0].id for n in range(4)]
    messages.delete(user=one, message_id=sent[1])
    conversations.mark_read(reader_id=other.id, conversation_id=chat, message_id=sent[2])
    conversations.clear(user_id=one.id, conversation_id=chat, message_id=sent[0])
    return sent


def test_each_part_of_a_batch_is_as_if_alone(db, alice, bob, charlie):
    sent = talk(alice, bob)
    talk(charlie, alice)
    for person in (alice, bob):
        social_event_happened.send(
            None, action="create", kind="post_like", recipient_id=person.id, actor_id=charlie.id, target_id=5, title="A"
        )
    batch = parts_of(alice, bob, charlie)
    # Charlie has no part in this message, whatever an event of his log may name.
    foreign = batch[-1].events[0]._replace(type="message.new", object_id=sent[3])
    batch.append(UserEvents(Device(charlie.id, 0), [foreign]))
    together = socket_events.render(batch)
    assert together == [socket_events.render([part])[0] for part in batch]
    assert {frame["type"] for frames in together for frame in frames} >= {
        "message.new", "message.deleted", "conversation.read", "conversation.cleared", "notification.new",
    }  # fmt: skip
    assert together[-1][0]["type"] == "message.deleted"
    assert "Alice 3" not in str(together[-1])


def test_messages_of_many_users_are_read_in_one_query(db, alice, django_assert_num_queries):
    people = [make_user() for _ in range(6)]
    for person in people:
        chat = conversations.start(starter=person, user_id=alice.id)[0].id
        messages.send(sender=person, conversation_id=chat, body="hello")
    batch = [
        UserEvents(part.device, [event for event in part.events if event.type == "message.new"])
        for part in parts_of(alice, *people)
    ]
    with django_assert_num_queries(1):
        frames = [frame for frames in socket_events.render(batch) for frame in frames]
    assert [frame["data"]["message"]["body"] for frame in frames] == ["hello"] * 12


def test_questions_that_wait_are_answered_together_and_a_wrong_one_fails_alone(transactional_db):
    batches = []

    def halve(numbers):
        batches.append(list(numbers))
        assert all(number % 2 == 0 for number in numbers), "odd"
        return [number // 2 for number in numbers]

    async def ask(batcher, numbers):
        return await asyncio.gather(*(batcher(number) for number in numbers), return_exceptions=True)

    async def main():
        batcher = Batcher(halve)
        assert await ask(batcher, [2, 4, 6]) == [1, 2, 3]
        batches.clear()
        first, second, third = await ask(batcher, [2, 3, 4])
        assert (first, third) == (1, 2)
        assert isinstance(second, AssertionError)
        assert batches == [[2, 3, 4], [2], [3], [4]]
        # A question whose socket has closed meanwhile.
        gone = asyncio.ensure_future(batcher(8))
        await asyncio.sleep(0)
        gone.cancel()
        assert await batcher(10) == 5

    asyncio.run(main())
