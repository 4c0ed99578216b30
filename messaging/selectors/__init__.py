"""Reads of messaging; what other apps may use is named here."""

from messaging.selectors.access import (
    contact_permission,
    conversation_for,
    message_for,
    peer_ids_sharing,
    peers_of,
    reachable_peers,
)
from messaging.selectors.conversations import (
    conversation_page,
    conversations_for,
    message_unread_count,
    unread_counts_for,
)
from messaging.selectors.messages import message_page, messages_for, reactions_of
from messaging.selectors.pictures import picture_for
from messaging.selectors.search import search_page

__all__ = [
    "contact_permission",
    "conversation_for",
    "conversation_page",
    "conversations_for",
    "message_for",
    "message_page",
    "message_unread_count",
    "messages_for",
    "peer_ids_sharing",
    "peers_of",
    "picture_for",
    "reachable_peers",
    "reactions_of",
    "search_page",
    "unread_counts_for",
]
