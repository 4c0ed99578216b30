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
from messaging.serializers import ConversationOutput, MessageOutput
from messaging.services import conversations, messages
from tests.factories import make_user

numbers = itertools.count(1)
PARTICIPANTS = st.sampled_from([0, 1])
CONVERSATIONS = st.sampled_from([0, 1])
INDEXES = st.integers(0, 30)


class ExpectedConversation:
    """One conversation as it should be."""

    def __init__(self, people):
        self.people = people
        self.id = conversations.start(starter=people[0], user_id=people[1].id)[0].id
        self.messages = []  # [id, index of the sender, counts as unread, body or None when deleted]
        self.read, self.cleared = [0, 0], [0, 0]
        self.blocked = set()

    def visible(self, participant):
        return [m for m in self.messages if m[3] is not None and m[0] > self.cleared[participant]]

    def unread(self, participant):
        read_up_to = max(self.read[participant], self.cleared[participant])
        return sum(1 for m in self.visible(participant) if m[1] != participant and m[2] and m[0] > read_up_to)


class Walk(RuleBasedStateMachine):
    @initialize()
    def meet(self):
        self.alice, self.bob, self.charlie = (make_user(name) for name in ("Alice", "Bob", "Charlie"))
        self.conversations = [
            ExpectedConversation((self.alice, self.bob)),
            ExpectedConversation((self.alice, self.charlie)),
        ]

    def pick(self, conversation, index, participant=None):
        """Some message of the conversation, visible or not; None if it has none."""
        among = [m for m in conversation.messages if participant is None or m[1] == participant]
        return among[index % len(among)] if among else None

    @rule(conversation=CONVERSATIONS, participant=PARTICIPANTS, key=st.booleans(), reply=INDEXES)
    def send(self, conversation, participant, key, reply):
        conversation = self.conversations[conversation]
        body = f"number {next(numbers)}"
        replied = self.pick(conversation, reply) if reply % 3 == 0 else None
        data = {"body": body, "client_id": body.replace(" ", "-") if key else None}
        data["reply_to_id"] = replied[0] if replied else None
        try:
            made, created = messages.send(
                sender=conversation.people[participant], conversation_id=conversation.id, **data
            )
        except UserBlocked:
            assert conversation.blocked
            return
        except MessageNotFound:
            assert replied not in conversation.visible(participant)
            return
        assert not conversation.blocked and created
        assert not conversation.messages or made.id > conversation.messages[-1][0]
        conversation.messages.append([made.id, participant, True, body])
        if key:
            sender = conversation.people[participant]
            again, is_new = messages.send(sender=sender, conversation_id=conversation.id, **data)
            assert (MessageOutput.render(again, sender.id), is_new) == (MessageOutput.render(made, sender.id), False)

    @rule(conversation=CONVERSATIONS, participant=PARTICIPANTS, missed=st.booleans())
    def call(self, conversation, participant, missed):
        conversation = self.conversations[conversation]
        made = messages.send_call_message(
            conversation_id=conversation.id,
            caller_id=conversation.people[participant].id,
            call_id=next(numbers),
            media="audio",
            outcome="missed" if missed else "completed",
            duration_s=None if missed else 5,
            counts_as_unread=missed,
        )
        conversation.messages.append([made.id, participant, missed and not conversation.blocked, made.body])

    @rule(conversation=CONVERSATIONS, participant=PARTICIPANTS, index=INDEXES)
    def delete(self, conversation, participant, index):
        conversation = self.conversations[conversation]
        message = self.pick(conversation, index, participant)
        if message is None:
            return
        try:
            messages.delete(user=conversation.people[participant], message_id=message[0])
        except MessageNotFound:
            assert message not in conversation.visible(participant)
            return
        assert message in conversation.visible(participant)
        message[3] = None

    @rule(conversation=CONVERSATIONS, participant=PARTICIPANTS, index=INDEXES)
    def edit(self, conversation, participant, index):
        conversation = self.conversations[conversation]
        message = self.pick(conversation, index, participant)
        if message is None or conversation.blocked or str(message[3]).endswith("call"):
            return
        body = f"edit {next(numbers)}"
        try:
            messages.edit(editor=conversation.people[participant], message_id=message[0], body=body)
        except MessageNotFound:
            assert message not in conversation.visible(participant)
            return
        message[3] = body

    @rule(conversation=CONVERSATIONS, participant=PARTICIPANTS, index=st.none() | INDEXES)
    def read(self, conversation, participant, index):
        conversation = self.conversations[conversation]
        target = self.pick(conversation, index) if index is not None else None
        reader = conversation.people[participant]
        try:
            reply = conversations.mark_read(
                reader_id=reader.id, conversation_id=conversation.id, message_id=target and target[0]
            )
        except MessageNotFound:
            assert target not in conversation.visible(participant)
            return
        newest = conversation.visible(participant)[-1][0] if conversation.visible(participant) else 0
        conversation.read[participant] = max(conversation.read[participant], target[0] if target else newest)
        assert reply["last_read_id"] == conversation.read[participant]
        assert reply["unread_count"] == conversation.unread(participant)
        assert reply["message_unread_count"] == self.unread_of(reader)

    @rule(conversation=CONVERSATIONS, participant=PARTICIPANTS, index=st.none() | INDEXES)
    def clear(self, conversation, participant, index):
        conversation = self.conversations[conversation]
        target = self.pick(conversation, index) if index is not None else None
        visible = conversation.visible(participant)
        try:
            upto = conversations.clear(
                user_id=conversation.people[participant].id,
                conversation_id=conversation.id,
                message_id=target and target[0],
            )
        except MessageNotFound:
            assert target not in visible
            return
        newest = visible[-1][0] if visible else 0
        conversation.cleared[participant] = max(conversation.cleared[participant], target[0] if target else newest)
        assert upto == conversation.cleared[participant]

    @rule(conversation=CONVERSATIONS, participant=PARTICIPANTS)
    def block(self, conversation, participant):
        conversation = self.conversations[conversation]
        pair = {"blocker": conversation.people[participant], "blocked": conversation.people[1 - participant]}
        if participant in conversation.blocked:
            Block.objects.filter(**pair).delete()
            conversation.blocked.discard(participant)
        else:
            Block.objects.create(**pair)
            conversation.blocked.add(participant)

    def unread_of(self, person):
        return sum(
            conversation.unread(conversation.people.index(person))
            for conversation in self.conversations
            if person in conversation.people
        )

    @invariant()
    def everything_agrees(self):
        if not hasattr(self, "conversations"):
            return
        for conversation in self.conversations:
            for participant, person in enumerate(conversation.people):
                visible = conversation.visible(participant)
                page, _ = selectors.message_page(user_id=person.id, conversation_id=conversation.id, limit=100)
                assert [(m.id, m.body) for m in page] == [(m[0], m[3]) for m in visible[::-1]][:100]
                row = selectors.conversations_for(person.id, [conversation.id])[conversation.id]
                seen = ConversationOutput.render(row)
                assert seen["unread_count"] == conversation.unread(participant)
                assert seen["last_read_id"] == conversation.read[participant]
                assert seen["is_blocked"] is bool(conversation.blocked)
                assert (seen["last_message"] or {}).get("id") == (visible[-1][0] if visible else None)
                row = Participant.objects.get(conversation_id=conversation.id, user=person)
                read_up_to = max(row.last_read_id, row.cleared_up_to_id)
                unread = Message.objects.filter(
                    conversation_id=conversation.id, id__gt=read_up_to, counts_as_unread=True, deleted_at=None
                ).exclude(sender=person)
                assert row.unread_count == unread.count()
        for person in (self.alice, self.bob, self.charlie):
            total = self.unread_of(person)
            assert selectors.message_unread_count(person.id) == total
            listed, _ = selectors.conversation_page(user_id=person.id, limit=100)
            assert sum(conversation.unread_count for conversation in listed) == total


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
