"""Rebuilding columns of a large table in batches (core.rebuilding), for the migration of a release that folds otherwise."""

import pytest

from accounts.models import User
from accounts.text import folded_names
from core.rebuilding import rebuild_columns
from messaging.models import Message
from messaging.services import conversations, messages
from tests.factories import make_user

FOLDED = ("username_folded", "name_folded", "family_first_folded", "name_joined", "family_first_joined")


@pytest.mark.django_db(transaction=True)
def test_an_interrupted_rebuilding_goes_on():
    """The process stops in the third batch: what is done stays, and the next run does the rest and nothing twice."""
    for number in range(10):
        make_user(f"Łukasz {number}")
    User.objects.update(name_folded="", name_joined="old")
    writes = []

    def stop(row_id):
        if len(writes) == 6:
            raise KeyboardInterrupt
        writes.append(row_id)

    def run(note):
        def build(*names):
            note(names[0])
            return folded_names(*names)

        return rebuild_columns(
            User, read=("username", "first_name", "last_name"), write=FOLDED, build=build, database="default", batch=3
        )

    with pytest.raises(KeyboardInterrupt):
        run(stop)
    assert User.objects.exclude(name_folded="").count() == 6
    assert run(lambda name: None) == 4
    assert run(lambda name: None) == 0
    assert not User.objects.filter(name_joined="old").exists()


@pytest.mark.django_db(transaction=True)
def test_rebuilding_never_brings_an_erased_text_back(alice, bob):
    """The text is erased between the reading and the writing of its batch."""
    conversation, _new = conversations.start(starter=alice, user_id=bob.id)
    message, _new = messages.send(sender=alice, conversation_id=conversation.id, body="don’t ١٢٣")
    Message.objects.update(body_folded="as folded before")

    def erase(body):
        Message.objects.update(body=None, body_folded="")
        return {"body_folded": "never"}

    rebuild_columns(Message, read=("body",), write=("body_folded",), build=erase, database="default")
    assert Message.objects.get(id=message.id).body_folded == ""
