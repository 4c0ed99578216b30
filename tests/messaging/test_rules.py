"""Each rule on messages means the same to a QuerySet, to a row that was read, and to a hand-written statement."""

import pytest

from messaging import selectors
from messaging.models import Conversation, Message, Participant
from messaging.services import conversations, messages
from messaging.services.locking import count_unread, newest_visible_id


@pytest.fixture
def sent(alice, bob, charlie, conversation):
    """One message of each kind, by name. Bob has cleared the first and read the second."""
    conversations.start(starter=bob, user_id=alice.id)

    def send(sender):
        return messages.send(sender=sender, conversation_id=conversation, body="hello")[0].id

    made = {name: send(sender) for name, sender in (("cleared", alice), ("read", alice), ("own", bob))}
    made |= {"deleted": send(alice), "silent": send(alice), "new": send(alice)}
    conversations.clear(user_id=bob.id, conversation_id=conversation, message_id=made["cleared"])
    conversations.mark_read(reader_id=bob.id, conversation_id=conversation, message_id=made["read"])
    messages.delete(user=alice, message_id=made["deleted"])
    Message.objects.filter(id=made["silent"]).update(counts_as_unread=False)
    return made


def test_visible_messages(sent, alice, bob, charlie, conversation, django_assert_num_queries):
    for viewer, hidden in ((alice, {"deleted"}), (bob, {"deleted", "cleared"}), (charlie, set(sent))):
        expected = {number for name, number in sent.items() if name not in hidden}
        with django_assert_num_queries(2):
            assert set(Message.objects.visible_to(viewer.id).values_list("id", flat=True)) == expected
            assert selectors.messages_for(viewer.id, sent.values()).keys() == expected
    participant = Participant.objects.get(conversation_id=conversation, user=bob)
    assert newest_visible_id(conversation, participant.cleared_up_to_id) == sent["new"]


def test_unread_messages(sent, bob, conversation, django_assert_num_queries):
    participant = Participant.objects.get(conversation_id=conversation, user=bob)
    unread = {message.id for message in Message.objects.not_deleted() if participant.is_unread(message)}
    assert unread == {sent["new"]}
    with django_assert_num_queries(1):
        assert count_unread(participant) == len(unread)


def test_conversations_of_a_participant(alice, bob, charlie, conversation):
    assert [Conversation.objects.of(user.id).count() for user in (alice, bob, charlie)] == [1, 1, 0]
