"""Whatever two people do in whatever order: list, badge, watermarks and counted rows always agree."""

import itertools

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from accounts.exceptions import UserBlocked
from accounts.models import Block
from messaging import selectors
from messaging.exceptions import MessageNotFound
from messaging.models import Message, Participant
from messaging.services import conversations, messages
from tests.factories import make_user

numbers = itertools.count(1)
SIDES = st.sampled_from([0, 1])
LINES = st.sampled_from([0, 1])
PLACES = st.integers(0, 30)


class Line:
    """One conversation as it should be."""

    def __init__(self, people):
        self.people = people
        self.id = conversations.start(starter=people[0], user_id=people[1].id)[0]["id"]
        self.messages = []  # [id, side of the sender, counts as unread, body or None when deleted]
        self.read, self.cleared = [0, 0], [0, 0]
        self.blocked = set()

    def visible(self, side):
        return [m for m in self.messages if m[3] is not None and m[0] > self.cleared[side]]

    def unread(self, side):
        floor = max(self.read[side], self.cleared[side])
        return sum(1 for m in self.visible(side) if m[1] != side and m[2] and m[0] > floor)


class Walk(RuleBasedStateMachine):
    @initialize()
    def meet(self):
        self.alice, self.bob, self.charlie = (make_user(name) for name in ("Alice", "Bob", "Charlie"))
        self.lines = [Line((self.alice, self.bob)), Line((self.alice, self.charlie))]

    def pick(self, line, index, side=None):
        """Some message of the line, visible or not; None in an empty one."""
        among = [m for m in line.messages if side is None or m[1] == side]
        return among[index % len(among)] if among else None

    @rule(line=LINES, side=SIDES, key=st.booleans(), reply=PLACES)
    def send(self, line, side, key, reply):
        line = self.lines[line]
        body = f"number {next(numbers)}"
        replied = self.pick(line, reply) if reply % 3 == 0 else None
        data = {"body": body, "client_id": body.replace(" ", "-") if key else None}
        data["reply_to_id"] = replied[0] if replied else None
        try:
            made, created = messages.send(sender=line.people[side], conversation_id=line.id, **data)
        except UserBlocked:
            assert line.blocked
            return
        except MessageNotFound:
            assert replied not in line.visible(side)
            return
        assert not line.blocked and created
        assert not line.messages or made["id"] > line.messages[-1][0]
        line.messages.append([made["id"], side, True, body])
        if key:
            again = messages.send(sender=line.people[side], conversation_id=line.id, **data)
            assert again == (made, False)

    @rule(line=LINES, side=SIDES, missed=st.booleans())
    def call(self, line, side, missed):
        line = self.lines[line]
        made = messages.send_call_message(
            conversation_id=line.id,
            caller_id=line.people[side].id,
            call_id=next(numbers),
            media="audio",
            outcome="missed" if missed else "completed",
            duration_s=None if missed else 5,
            counts_as_unread=missed,
        )
        line.messages.append([made["id"], side, missed, made["body"]])

    @rule(line=LINES, side=SIDES, index=PLACES)
    def delete(self, line, side, index):
        line = self.lines[line]
        message = self.pick(line, index, side)
        if message is None:
            return
        try:
            messages.delete(user=line.people[side], message_id=message[0])
        except MessageNotFound:
            assert message not in line.visible(side)
            return
        assert message in line.visible(side)
        message[3] = None

    @rule(line=LINES, side=SIDES, index=PLACES)
    def edit(self, line, side, index):
        line = self.lines[line]
        message = self.pick(line, index, side)
        if message is None or line.blocked or str(message[3]).endswith("call"):
            return
        body = f"edit {next(numbers)}"
        try:
            messages.edit(editor=line.people[side], message_id=message[0], body=body)
        except MessageNotFound:
            assert message not in line.visible(side)
            return
        message[3] = body

    @rule(line=LINES, side=SIDES, index=st.none() | PLACES)
    def read(self, line, side, index):
        line = self.lines[line]
        target = self.pick(line, index) if index is not None else None
        reader = line.people[side]
        try:
            reply = conversations.mark_read(
                reader_id=reader.id, conversation_id=line.id, message_id=target and target[0]
            )
        except MessageNotFound:
            assert target not in line.visible(side)
            return
        newest = line.visible(side)[-1][0] if line.visible(side) else 0
        line.read[side] = max(line.read[side], target[0] if target else newest)
        assert reply["last_read_id"] == line.read[side]
        assert reply["unread_count"] == line.unread(side)
        assert reply["message_unread_count"] == self.unread_of(reader)

    @rule(line=LINES, side=SIDES, index=st.none() | PLACES)
    def clear(self, line, side, index):
        line = self.lines[line]
        target = self.pick(line, index) if index is not None else None
        visible = line.visible(side)
        try:
            upto = conversations.clear(
                user_id=line.people[side].id, conversation_id=line.id, message_id=target and target[0]
            )
        except MessageNotFound:
            assert target not in visible
            return
        newest = visible[-1][0] if visible else 0
        line.cleared[side] = max(line.cleared[side], target[0] if target else newest)
        assert upto == line.cleared[side]

    @rule(line=LINES, side=SIDES)
    def block(self, line, side):
        line = self.lines[line]
        pair = {"blocker": line.people[side], "blocked": line.people[1 - side]}
        if side in line.blocked:
            Block.objects.filter(**pair).delete()
            line.blocked.discard(side)
        else:
            Block.objects.create(**pair)
            line.blocked.add(side)

    def unread_of(self, person):
        return sum(line.unread(line.people.index(person)) for line in self.lines if person in line.people)

    @invariant()
    def everything_agrees(self):
        if not hasattr(self, "lines"):
            return
        for line in self.lines:
            for side, person in enumerate(line.people):
                visible = line.visible(side)
                page, _ = selectors.message_page(user_id=person.id, conversation_id=line.id, limit=100)
                assert [(m["id"], m["body"]) for m in page] == [(m[0], m[3]) for m in visible[::-1]][:100]
                seen = selectors.conversations_for(person.id, [line.id])[line.id]
                assert seen["unread_count"] == line.unread(side)
                assert seen["last_read_id"] == line.read[side]
                assert seen["is_blocked"] is bool(line.blocked)
                assert (seen["last_message"] or {}).get("id") == (visible[-1][0] if visible else None)
                row = Participant.objects.get(conversation_id=line.id, user=person)
                floor = max(row.last_read_id, row.cleared_up_to_id)
                unread = Message.objects.filter(
                    conversation_id=line.id, id__gt=floor, counts_as_unread=True, deleted_at=None
                ).exclude(sender=person)
                assert row.unread_count == unread.count()
        for person in (self.alice, self.bob, self.charlie):
            total = self.unread_of(person)
            assert selectors.message_unread_count(person.id) == total
            listed, _ = selectors.conversation_page(user_id=person.id, limit=100)
            assert sum(conversation["unread_count"] for conversation in listed) == total


@pytest.mark.django_db
@pytest.mark.timeout(300)
def test_a_random_walk_of_two_conversations():
    run_state_machine_as_test(
        Walk,
        settings=settings(
            max_examples=25,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )
