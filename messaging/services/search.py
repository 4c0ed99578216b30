"""Search inside a conversation."""

from typing import TYPE_CHECKING, Any

from messaging.selectors.search import search_page
from messaging.text import clean_query

if TYPE_CHECKING:
    from accounts.models import User


def inside(
    *, user: "User", conversation_id: object, q: object, limit: int, before: int | None = None
) -> tuple[list[dict[str, Any]], int | None]:
    """Messages that contain the text, newest first, and the `before` of the next page (None: the end).

    ConversationNotFound, ValidationError (q).
    """
    folded = clean_query(q)
    return search_page(user_id=user.id, conversation_id=conversation_id, folded=folded, limit=limit, before=before)
