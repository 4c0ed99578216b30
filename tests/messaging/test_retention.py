"""What goes for good: cleared messages, abandoned images, the words of an erased account."""

import io
import json
import zipfile
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.images import pictures
from accounts.models import Image
from accounts.services import erasure as accounts_retention
from accounts.services import export as accounts_export
from core.database.deletion import run_first_batches
from messaging.models import Conversation, Message, MessageRevision, Participant, Reaction, Report
from messaging.services import erasure, messages, purge, reactions
from realtime.models import Event
from tests.messaging.conftest import API, conversation_path, message_path
from tests.messaging.test_images import upload


def test_messages_behind_both_watermarks_go(as_alice, as_bob, conversation, send_message, thread):
    old = [send_message(as_alice, f"old {n}", client_id=f"k{n}") for n in range(5)]
    as_alice.patch(message_path(old[0]["id"]), {"body": "edited"})
    as_bob.post(message_path(old[1]["id"], "/reactions"), {"emoji": "👍"})
    as_bob.post(message_path(old[2]["id"], "/report"), {"reason": "spam"}, status=201)
    as_alice.delete(message_path(old[3]["id"]))
    new = send_message(as_bob, "new", reply_to_id=old[0]["id"])
    as_alice.post(conversation_path(conversation, "/clear"))
    assert run_first_batches(purge.jobs(timezone.now(), 100)) == {"messages": 0, "images": 0}
    as_bob.post(conversation_path(conversation, "/clear"), {"message_id": old[4]["id"]})
    assert run_first_batches(purge.jobs(timezone.now(), 2))["messages"] == 2
    assert run_first_batches(purge.jobs(timezone.now(), 2))["messages"] == 2
    assert run_first_batches(purge.jobs(timezone.now(), 2))["messages"] == 1
    assert run_first_batches(purge.jobs(timezone.now(), 2))["messages"] == 0
    assert list(Message.objects.values_list("id", flat=True)) == [new["id"]]
    assert MessageRevision.objects.count() == Reaction.objects.count() == 0
    assert Report.objects.get().snapshot["body"] == "old 2"
    assert thread(as_bob)["messages"][0]["reply_to"] is None
    assert Conversation.objects.get().purged_up_to_id == old[4]["id"]
    send_message(as_alice, "the key is free again", client_id="k0")


@pytest.mark.django_db(transaction=True)
def test_images_go_with_their_messages_and_when_abandoned(as_alice, as_bob, alice, conversation):
    path = conversation_path(conversation, "/media")
    as_alice.upload(path, file=upload())
    image = Image.objects.get()
    name = pictures.file_name(image.token, image.mime)
    for client in (as_alice, as_bob):
        client.post(conversation_path(conversation, "/clear"))
    assert default_storage.exists(name)
    assert run_first_batches(purge.jobs(timezone.now(), 10)) == {"messages": 1, "images": 0}
    assert Image.objects.count() == 0 and not default_storage.exists(name)
    with pictures.receive_upload(owner=alice, kind="message", upload=upload()) as image:
        image.save()
    with pictures.receive_upload(owner=alice, kind="avatar", upload=upload()) as image:
        image.save()
    assert run_first_batches(purge.jobs(timezone.now(), 10))["images"] == 0
    assert run_first_batches(purge.jobs(timezone.now() + timedelta(hours=25), 10))["images"] == 1
    assert Image.objects.get().kind == "avatar"


@pytest.mark.django_db(transaction=True)
def test_the_texts_of_an_erased_account_are_erased_for_both(
    as_alice, as_bob, alice, bob, conversation, send_message, thread
):
    his = send_message(as_bob, "his question")
    hers = send_message(as_alice, "her secret", reply_to_id=his["id"])
    as_alice.patch(message_path(hers["id"]), {"body": "her secret, edited"})
    as_alice.upload(conversation_path(conversation, "/media"), file=upload())
    as_alice.post(message_path(his["id"], "/reactions"), {"emoji": "👍"})
    as_bob.post(message_path(hers["id"], "/reactions"), {"emoji": "🎉"})
    as_bob.post(message_path(hers["id"], "/report"), {"reason": "spam"}, status=201)
    assert accounts_retention.erase(user_id=alice.id)
    assert [m["body"] for m in thread(as_bob)["messages"]] == ["his question"]
    assert thread(as_bob)["messages"][0]["reactions"] == []
    seen = as_bob.get(f"{API}/conversations")["conversations"]
    assert [(c["id"], c["unread_count"], c["last_message"]["id"]) for c in seen] == [(conversation, 0, his["id"])]
    assert seen[0]["other_user"]["first_name"] == ""
    assert not Message.objects.filter(body__contains="secret").exists()
    assert not Message.objects.filter(body_folded__contains="secret").exists()
    assert MessageRevision.objects.count() == Reaction.objects.count() == Image.objects.count() == 0
    assert Report.objects.get().snapshot == {}
    assert Participant.objects.filter(unread_count__gt=0).count() == 1  # the erased user's own row
    assert send_message(as_bob, "anybody there?", status=403)["error"] == "message_permission_denied"
    as_bob.delete(message_path(his["id"]))


def test_a_long_conversation_is_erased_in_parts(as_bob, alice, bob, conversation, send_message, settings):
    settings.MESSAGING_ERASED_AT_ONCE = settings.MESSAGING_ERASURE_ANNOUNCED = 2
    theirs = [send_message(as_bob, f"from bob {number}")["id"] for number in range(3)]
    for message_id in theirs:
        reactions.add(user=alice, message_id=message_id, emoji="👍")
    for number in range(5):
        messages.send(sender=alice, conversation_id=conversation, body=f"from alice {number}")
    Event.objects.all().delete()
    with CaptureQueriesContext(connection) as captured:
        erasure.erase_user(alice.id)
    assert sum(query["sql"].startswith('UPDATE "messaging_message"') for query in captured) == 3
    assert not Message.objects.filter(sender=alice, deleted_at=None).exists()
    assert Message.objects.filter(sender=bob, deleted_at=None).count() == 3 and not Reaction.objects.exists()
    told = Event.objects.filter(user=bob, type="message.reactions").order_by("seq").values_list("object_id", flat=True)
    assert list(told) == theirs[1:]


def test_the_export_holds_the_messages_of_both_participants(as_alice, as_bob, alice, conversation, send_message):
    first, second = send_message(as_bob, "from bob"), send_message(as_alice, "from alice")
    as_alice.upload(conversation_path(conversation, "/media"), file=upload(), body="picture")
    as_alice.post(message_path(first["id"], "/reactions"), {"emoji": "👍"})
    as_alice.post(conversation_path(conversation, "/clear"), {"message_id": first["id"]})
    with zipfile.ZipFile(io.BytesIO(accounts_export.archive(user_id=alice.id).read())) as archive:
        read = {name: archive.read(name) for name in archive.namelist() if name.startswith("messages/")}
    part = json.loads(read[f"messages/conversation-{conversation}/messages-0001.json"])
    assert [message["body"] for message in part] == ["picture", "from alice"]
    assert part[1]["id"] == second["id"]
    assert json.loads(read[f"messages/conversation-{conversation}/conversation.json"])["id"] == conversation
    assert json.loads(read["messages/reactions.json"])[0]["emoji"] == "👍"
    assert read[f"messages/images/{part[0]['id']}.png"].startswith(b"\x89PNG")
