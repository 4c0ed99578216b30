"""A text without anything to see is refused where a text is needed, and left out where none is."""

import pytest
from rest_framework.exceptions import ValidationError

from messaging.models import Message, Report
from messaging.services import messages
from tests.accounts.steps import act, login
from tests.accounts.test_typed_names import INVISIBLE, VISIBLE
from tests.messaging.conftest import conversation_path, message_path
from tests.messaging.test_images import upload

TEXTS = [text for text in INVISIBLE if "\x01" not in text]


def test_a_message_needs_something_to_see(as_alice, alice, conversation, send_message):
    for text in TEXTS:
        with pytest.raises(ValidationError):
            messages.send(sender=alice, conversation_id=conversation, body=f" {text}\n")
    for text in TEXTS[::4]:
        refused = send_message(as_alice, text, status=400)
        assert refused["error"] == "validation_error" and set(refused["fields"]) == {"body"}
    assert not Message.objects.exists()


def test_an_edit_needs_it_too(as_alice, send_message):
    sent = send_message(as_alice)
    for text in TEXTS[::6]:
        assert set(as_alice.patch(message_path(sent["id"]), {"body": text}, status=400)["fields"]) == {"body"}


def test_texts_with_something_to_see_are_kept_as_they_are(as_alice, alice, conversation):
    """Also what is limited in names: a message is the words of its author."""
    for text in [*VISIBLE, "Z" + "\u0351\u036b\u0343" * 20, "a\u200bb", "x\u202ey"]:
        message, _new = messages.send(sender=alice, conversation_id=conversation, body=text)
        assert message.body == text


def test_a_caption_without_anything_to_see_is_none(as_alice, conversation):
    path = conversation_path(conversation, "/media")
    for text in TEXTS[::8]:
        assert as_alice.upload(path, file=upload(), body=text)["message"]["body"] is None


def test_reports_need_a_reason_and_no_comment(as_alice, as_bob, send_message):
    sent = send_message(as_alice)
    for text in TEXTS[::8]:
        refused = as_bob.post(message_path(sent["id"], "/report"), {"reason": text}, status=400)
        assert set(refused["fields"]) == {"reason"}
        as_bob.post(message_path(sent["id"], "/report"), {"reason": "spam", "comment": text}, status=201)
        assert Report.objects.get().comment == ""


@pytest.mark.parametrize("text", TEXTS[::20])
def test_a_hint_without_anything_to_see_is_none(alice, as_alice, text):
    act(as_alice, alice, "two_step_enable", "two-step/enable", {"password": "violet lantern 42", "hint": text})
    assert login(alice)["hint"] == ""
