"""Send, edit and delete messages."""

import hashlib
import json
from contextlib import suppress
from datetime import datetime
from typing import IO, TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts.exceptions import UserBlocked
from accounts.images import pictures
from accounts.services import storage_quota
from core.api.exceptions import ApiError
from core.database.statements import column_values, insert_into, on_postgresql, rows, set_id
from core.database.transactions import unit_of_work
from messaging import signals
from messaging.conf import conf
from messaging.exceptions import IdempotencyConflict, MessageNotFound, NotMessageOwner
from messaging.models import PARTICIPANT, Message, MessageRevision, Reaction
from messaging.selectors.conversations import check_can_contact, conversation_for
from messaging.selectors.messages import MessageRow, SeenMessage, messages_for, row_of
from messaging.services.conversations import reveal_conversation
from messaging.services.locking import LockedConversation, lock, lock_message, recount
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
    sent_at: datetime | None = None,
) -> tuple[MessageRow, bool]:
    """The message as its sender sees it, and whether it is new: a repeated `client_id` returns the first one.

    `sent_at` is for demo data; without it the message is sent now.
    ConversationNotFound, EmailNotVerified, UserBlocked, MessagePermissionDenied, MessageNotFound (the
    message replied to), IdempotencyConflict, ValidationError (body, client_id).
    """
    text, key = _checked(body, client_id, has_image=False)
    return _send(sender, conversation_id, text, reply_to_id, key, sent_at=sent_at)


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

    Raises what `send` raises, and FileTooLarge, UnsupportedMediaType, InvalidImage, StorageQuotaExceeded, StorageFull,
    ServiceUnavailable.
    """
    # Decoding is expensive: all checks come first.
    text, key = _checked(body, client_id, has_image=True)
    conversation = conversation_for(sender, conversation_id)
    if key is None or not Message.objects.filter(sender_id=sender.id, client_id=key).exists():
        check_can_contact(sender, conversation)
        storage_quota.check(sender.id)
    with pictures.receive_upload(owner=sender, kind="message", upload=upload) as image:
        return _send(sender, conversation.id, text, reply_to_id, key, image=image)


def _checked(body: str | None, client_id: str | None, *, has_image: bool) -> tuple[str | None, str | None]:
    """The text and the client's id as they are stored."""
    return clean_body(body, may_be_empty=has_image), clean_client_id(client_id)


def _send(
    sender: "User",
    conversation_id: object,
    text: str | None,
    reply_to_id: int | None,
    key: str | None,
    *,
    image: "Image | None" = None,
    sent_at: datetime | None = None,
) -> tuple[MessageRow, bool]:
    with unit_of_work():
        locked = lock(conversation_id, sender.id)
        digest = ""
        if key is not None:
            upload_digest = image.upload_digest if image else ""
            digest = _digest_of(locked.conversation.id, text, reply_to_id, upload_digest)
        try:
            locked.check_can_contact(sender)
            replied = locked.visible_message(reply_to_id) if reply_to_id is not None else None
        except ApiError:
            # A repeat returns the accepted message, even if permissions have changed since.
            with suppress(ApiError):
                return _original_of(sender.id, key, digest), False
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
        unread_counts = _insert(message, locked)
        if not unread_counts:
            repeated = _original_of(sender.id, key, digest)
            if image is not None:
                image.delete()  # not counted, and without a row its files are removed
            return repeated, False
        if image is not None:
            storage_quota.count(user_id=sender.id, size=image.size)
        return _announce(message, locked, row_of(message, image=image, replied=replied), unread_counts), True


# The request is stored as a digest, because its message may change: docs/decisions/messaging.md#0034
def _digest_of(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _original_of(sender_id: int, client_id: str | None, digest: str) -> MessageRow:
    """The message first sent with this client_id. MessageNotFound, IdempotencyConflict for a request that does not match."""
    message = None
    if client_id is not None:
        message = Message.objects.not_deleted().filter(sender_id=sender_id, client_id=client_id).first()
    if message is None:
        raise MessageNotFound
    if message.request_digest != digest:
        raise IdempotencyConflict
    shown = messages_for(sender_id, [message.id]).get(message.id)
    return shown or row_of(message, image=message.image)


_INSERT = f"{insert_into(Message)} ON CONFLICT DO NOTHING RETURNING id"
_NEW_UNREAD_COUNT = "unread_count + CASE WHEN user_id = %s THEN 0 ELSE %s END"
_NEW_HAS_WRITTEN = "has_written OR (user_id = %s AND %s)"
_INSERT_AND_COUNT = (
    f"WITH new AS ({_INSERT}), participants AS (UPDATE {PARTICIPANT} SET last_message_id = new.id,"
    f" activity_id = new.id, unread_count = {_NEW_UNREAD_COUNT}, has_written = {_NEW_HAS_WRITTEN}"
    " FROM new WHERE conversation_id = %s RETURNING user_id, unread_count)"
    " SELECT new.id, participants.user_id, participants.unread_count FROM new, participants"
)
_COUNT = (
    f"UPDATE {PARTICIPANT} SET last_message_id = %s, activity_id = %s,"
    f" unread_count = {_NEW_UNREAD_COUNT}, has_written = {_NEW_HAS_WRITTEN}"
    " WHERE conversation_id = %s RETURNING user_id, unread_count"
)


def _insert(message: Message, locked: LockedConversation) -> dict[int, int]:
    """Inserts the message, sets its id, updates both participants' counters; returns their unread counts, by user.

    Empty, with nothing written, if the sender's client_id is taken.
    """
    values = column_values(message)
    is_written = message.kind != Message.Kind.CALL
    effects = [message.sender_id, int(message.counts_as_unread), message.sender_id, is_written, message.conversation_id]
    if on_postgresql():
        counts = rows(_INSERT_AND_COUNT, [*values, *effects])
    else:
        new = rows(_INSERT, values)
        counts = new and [(new[0][0], *count) for count in rows(_COUNT, [new[0][0], new[0][0], *effects])]
    if not counts:
        return {}
    set_id(message, counts[0][0])
    for user_id in locked.unseen_by:
        reveal_conversation(user_id=user_id, conversation=locked.conversation)
    return {user_id: unread for _, user_id, unread in counts}


def _announce(
    message: Message, locked: LockedConversation, row: MessageRow, unread_counts: dict[int, int]
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
    """The message that an ended call leaves, as the caller sees it. A repeat for the same call does not add another one.

    `counts_as_unread`: the callee has missed the call. It does not count when one has blocked the other meanwhile.
    """
    body = _call_text(media, outcome)
    with unit_of_work():
        locked = lock(conversation_id, caller_id)
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
        unread_counts = _insert(message, locked)
        if unread_counts:
            return _announce(message, locked, row_of(message), unread_counts)
    return row_of(Message.objects.get(call_id=call_id))


def edit(*, editor: "User", message_id: object, body: str | None) -> MessageRow:
    """The message with its new text. The same text again changes nothing and sends no event.

    MessageNotFound, NotMessageOwner, EmailNotVerified, UserBlocked, MessagePermissionDenied,
    ValidationError (body). The text of an image may become empty.
    """
    with unit_of_work():
        locked, message = lock_message(message_id, editor.id)
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
    """Keeps the text before an edit. Of earlier texts only the original and the newest stay."""
    MessageRevision.objects.create(message=message, body=message.body or "", created_at=now)
    newest_first = MessageRevision.objects.filter(message=message).order_by("-id").values_list("id", flat=True)
    beyond = list(newest_first[conf.REVISIONS_PER_MESSAGE :])
    MessageRevision.objects.filter(id__any=beyond[:-1]).delete()


def delete(*, user: "User", message_id: object) -> int:
    """Deletes a message for both participants and erases its content; returns its id. Allowed after a block, too.

    MessageNotFound (also when called again), NotMessageOwner.
    """
    with unit_of_work():
        locked, message = lock_message(message_id, user.id)
        if message.sender_id != user.id:
            raise NotMessageOwner
        participants = locked.participants()
        was_unread = participants[1].is_unread(message)
        MessageRevision.objects.filter(message=message).delete()
        Reaction.objects.filter(message=message).delete()
        image_id = message.image_id
        message.erase(timezone.now())
        message.save(update_fields=[*Message.ERASED, "deleted_at"])
        if image_id is not None:
            pictures.discard([image_id])
        for participant in participants:
            if participant.is_unread(message) or participant.last_message_id == message.id:
                recount(participant)
                participant.save(update_fields=["unread_count", "last_message_id"])
        signals.message_deleted.send(Message, message=message, conversation=locked.conversation, was_unread=was_unread)
    return message.id
