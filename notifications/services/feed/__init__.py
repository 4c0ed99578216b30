"""The feed: what enters it, what leaves it, what was read. One function for every door."""

from notifications.services.feed.messages import (
    conversation_read,
    message_arrived,
    message_withdrawn,
)
from notifications.services.feed.occurrences import TITLE_LENGTH, Outcome, notify, retract
from notifications.services.feed.people import forget_person, part_people
from notifications.services.feed.reading import delete, mark_all_read, mark_read

__all__ = [
    "TITLE_LENGTH",
    "Outcome",
    "conversation_read",
    "delete",
    "forget_person",
    "mark_all_read",
    "mark_read",
    "message_arrived",
    "message_withdrawn",
    "notify",
    "part_people",
    "retract",
]
