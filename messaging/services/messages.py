"""Send, edit and delete messages."""

from contextlib import suppress
from datetime import datetime
from typing import IO, TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts.exceptions import UserBlocked
from accounts.services import pictures
from core.exceptions import ApiError
from core.transactions import unit_of_work
from messaging import signals
from messaging.conf import conf
from messaging.exceptions import NotMessageOwner
from messaging.models import Message, MessageRevision
from messaging.selectors.conversations import check_can_contact, conversation_for
from messaging.selectors.messages import MessageRow, SeenMessage, messages_for
from messaging.services import storage
from messaging.text import clean_body, clean_client_id, searchable

if TYPE_CHECKING:
    from accounts.models import Image, User


def send(
    *,
    sender: "User",
    conversation_id: object,
    body: str | None,
    reply_to_id: int | None = None,
    client_id: str | None = None,
    image: "Image | None" = None,
    sent_at: datetime | None = None,
) -> tuple[MessageRow, bool]:
    """The message as its sender sees it, and whether it is new: a repeated `client_id` returns the first one.

    With an `image`, which is stored with it, the text may be missing. `sent_at` is for demo data; without it the message
    is sent now.
    ConversationNotFound, EmailNotVerified, UserBlocked, MessagePermissionDenied, MessageNotFound (the
    message replied to), IdempotencyConflict, ValidationError (body, client_id).
    """
    text = clean_body(body, may_be_empty=image is not None)
    key = clean_client_id(client_id)
    with unit_of_work():
        locked = storage.lock(conversation_id, sender.id)
        digest = ""
        if key is not None:
            upload_digest = image.upload_digest if image else ""
            digest = storage.digest_of(locked.conversation.id, text, reply_to_id, upload_digest)
        try:
            locked.check_can_contact(sender)
            replied = locked.visible_message(reply_to_id) if reply_to_id is not None else None
        except ApiError:
            # An accepted message stays accepted: a repeat returns it, even if permissions have changed since.
            with suppress(ApiError):
                return storage.original_of(sender.id, key, digest), False
            raise
        if image is not None:
            image.save(force_insert=True)
        message = Message(
            conversation_id=locked.conversation.id,
            sender_id=sender.id,
            kind=Message.Kind.IMAGE if image else Message.Kind.TEXT,
            body=text,
            body_folded=searchable(text),
            reply_to_id=reply_to_id,
            image_id=image.id if image else None,
            client_id=key,
            request_digest=digest,
            created_at=sent_at or timezone.now(),
        )
        unread_counts = storage.insert(message, locked)
        if not unread_counts:
            repeated = storage.original_of(sender.id, key, digest)
            if image is not None:
                pictures.discard([image.id])
            return repeated, False
        return _announce(message, locked, storage.row_of(message, image=image, replied=replied), unread_counts), True


def send_image(
    *,
    sender: "User",
    conversation_id: object,
    upload: IO[bytes],
    body: str | None = None,
    reply_to_id: int | None = None,
    client_id: str | None = None,
) -> tuple[MessageRow, bool]:
    """Sends an image, with or without text. A repeat must upload the same bytes.

    Raises what `send` raises, and FileTooLarge, UnsupportedMediaType, InvalidImage, ServiceUnavailable.
    """
    # Decoding is expensive: all checks come first.
    text = clean_body(body, may_be_empty=True)
    key = clean_client_id(client_id)
    conversation = conversation_for(sender, conversation_id)
    if key is None or not Message.objects.filter(sender_id=sender.id, client_id=key).exists():
        check_can_contact(sender, conversation)
    with pictures.receive_upload(owner=sender, kind="message", upload=upload) as image:
        return send(
            sender=sender,
            conversation_id=conversation.id,
            body=text,
            reply_to_id=reply_to_id,
            client_id=key,
            image=image,
        )


def _announce(
    message: Message, locked: storage.LockedConversation, row: MessageRow, unread_counts: dict[int, int]
) -> MessageRow:
    """Sends the signal about a new message; returns the message as its sender sees it."""
    seen_by = {user_id: SeenMessage(row, count) for user_id, count in unread_counts.items()}
    if row.reply_to_id is not None:
        # The recipient may have cleared the message that this one replies to.
        del seen_by[locked.other_id]
    signals.message_sent.send(
        Message,
        message=message,
        conversation=locked.conversation,
        recipient_id=locked.other_id,
        seen_by=seen_by,
    )
    return row


def _call_text(media: str, outcome: str) -> str:
    """The text for clients without calls: always English."""
    call = "video call" if media == "video" else "voice call"
    if outcome in ("missed", "canceled", "declined"):
        return f"{outcome} {call}".capitalize()
    return f"{call}, line busy".capitalize() if outcome == "busy" else call.capitalize()


def send_call_message(
    *,
    conversation_id: int,
    caller_id: int,
    call_id: int,
    media: str,
    outcome: str,
    duration_s: int | None,
    counts_as_unread: bool,
) -> MessageRow:
    """The message that an ended call leaves, as the caller sees it; a repeat for the same call adds no second one.

    `counts_as_unread`: the callee has missed the call; not counted when one has blocked the other meanwhile.
    """
    body = _call_text(media, outcome)
    with unit_of_work():
        locked = storage.lock(conversation_id, caller_id)
        message = Message(
            conversation_id=conversation_id,
            sender_id=caller_id,
            kind=Message.Kind.CALL,
            body=body,
            body_folded=searchable(body),
            call_id=call_id,
            call_media=media,
            call_outcome=outcome,
            call_duration_s=duration_s,
            counts_as_unread=counts_as_unread and locked.refusal is not UserBlocked,
            created_at=timezone.now(),
        )
        unread_counts = storage.insert(message, locked)
        if unread_counts:
            return _announce(message, locked, storage.row_of(message), unread_counts)
    return storage.row_of(Message.objects.get(call_id=call_id))


def edit(*, editor: "User", message_id: object, body: str | None) -> MessageRow:
    """The message with its new text. The same text again changes nothing and sends no event.

    MessageNotFound, NotMessageOwner, EmailNotVerified, UserBlocked, MessagePermissionDenied,
    ValidationError (body). The text of an image may become empty.
    """
    with unit_of_work():
        locked, message = storage.lock_message(message_id, editor.id)
        if message.sender_id != editor.id:
            raise NotMessageOwner
        locked.check_can_contact(editor)
        if message.kind == Message.Kind.CALL:
            raise ValidationError({"body": [_("Call entries cannot be edited.")]})
        text = clean_body(body, may_be_empty=message.kind == Message.Kind.IMAGE)
        if text != message.body:
            now = timezone.now()
            _keep_version(message, now)
            message.body, message.body_folded, message.edited_at = text, searchable(text), now
            message.save(update_fields=["body", "body_folded", "edited_at"])
            signals.message_edited.send(Message, message=message, conversation=locked.conversation)
        return messages_for(editor.id, [message.id])[message.id]


def _keep_version(message: Message, now: datetime) -> None:
    """Keeps the text before an edit, and of earlier ones the original and the newest."""
    MessageRevision.objects.create(message=message, body=message.body or "", created_at=now)
    newest_first = MessageRevision.objects.filter(message=message).order_by("-id").values_list("id", flat=True)
    beyond = list(newest_first[conf.REVISIONS_PER_MESSAGE :])
    MessageRevision.objects.filter(id__any=beyond[:-1]).delete()


def delete(*, user: "User", message_id: object) -> int:
    """Deletes a message for both participants and erases its content; returns its id. Allowed after a block, too.

    MessageNotFound (also when called again), NotMessageOwner.
    """
    with unit_of_work():
        locked, message = storage.lock_message(message_id, user.id)
        if message.sender_id != user.id:
            raise NotMessageOwner
        storage.erase(message, locked)
    return message.id
