"""The columns that hand-written statements read, in their order."""

from typing import Any, NamedTuple

from accounts.serializers import PersonRow


class ConversationRow(NamedTuple):
    """A conversation as one participant sees it; `other_` is the other participant."""

    id: int
    activity_id: int
    unread_count: int
    last_read_id: int
    other_last_read_id: int
    other_delivered_id: int
    my_receipts: Any
    other_receipts: Any
    is_blocked: Any
    message_id: int | None
    kind: str
    body: str | None
    sender_id: int
    created_at: Any
    other_user: PersonRow


class MessageRow(NamedTuple):
    id: int
    conversation_id: int
    sender_id: int
    kind: str
    body: str | None
    reply_to_id: int | None
    edited_at: Any
    created_at: Any
    client_id: str | None
    call_id: int | None = None
    call_media: str = ""
    call_outcome: str = ""
    call_duration_s: int | None = None
    image_token: str | None = None
    image_width: int = 0
    image_height: int = 0
    image_mime: str = ""
    image_size: int = 0
    image_blurhash: str = ""
    # The message replied to, if the viewer can still see it.
    reply_sender_id: int | None = None
    reply_kind: str = ""
    reply_body: str | None = None
    reply_image_token: str | None = None
    # "id user emoji" joined by "|", in any order.
    reactions: str | None = None
