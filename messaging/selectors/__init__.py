"""Queries of messaging; this module exports those that other apps may use."""

from messaging.selectors.conversations import (
    MESSAGE_UNREAD_COUNT,
    ConversationRow,
    check_can_contact,
    conversation_for,
    conversation_page,
    conversations_for,
    has_written,
    message_unread_count,
    presence_viewers_of,
    presence_visible_to,
    reachable_peers,
    unread_counts_for,
)
from messaging.selectors.messages import (
    MessageRow,
    SeenMessage,
    message_image_is_visible,
    message_page,
    messages_for,
    messages_for_each,
    stored_messages,
)
from messaging.selectors.search import Place, search_everywhere, search_page
