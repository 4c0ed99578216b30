"""Defaults of this app; a setting `MESSAGING_<NAME>` overrides the one of that name."""

from dataclasses import dataclass, field

from core.conf import ALLOW, RatesByScope, prefixed

# The most characters of texts. Columns hold them, so a longer one needs a migration.
CLIENT_ID_LENGTH = 64
REPORT_REASON_LENGTH = 100
# As it is sent; no emoji is as long.
EMOJI_LENGTH = 32


@dataclass(frozen=True)
class Defaults:
    # Code points, after trimming.
    BODY_LENGTH: int = 4096
    PREVIEW_LENGTH: int = 200
    REACTIONS_PER_MESSAGE: int = 6
    # Earlier versions that are kept of an edited message, besides the original.
    REVISIONS_PER_MESSAGE: int = 20
    REPORT_COMMENT_LENGTH: int = 2000

    MESSAGES_PAGE: int = 50
    MESSAGES_PAGE_MAX: int = 100
    CONVERSATIONS_PAGE: int = 30
    CONVERSATIONS_PAGE_MAX: int = 100
    PEOPLE_PAGE: int = 20
    PEOPLE_PAGE_MAX: int = 50
    SEARCH_PAGE: int = 20
    SEARCH_PAGE_MAX: int = 100
    SEARCH_QUERY_LENGTH: int = 128
    # Messages read newest first before the text index is used, and the most that a query too short for
    # that index may read in one request.
    SEARCH_SCAN: int = 1000
    SEARCH_SCAN_MAX: int = 3000
    # A search in all conversations reads so many of them in one request, SEARCH_SCAN_MAX messages of the first and so
    # many of each of the others.
    SEARCH_CONVERSATIONS: int = 20
    SEARCH_SCAN_EACH: int = 250

    RATES: RatesByScope = field(
        default_factory=lambda: {
            "send": ((20, 5, ALLOW), (60, 60, ALLOW)),
            "start_conversation": (20, 3600, ALLOW),
            "search_people": (30, 60, ALLOW),
            "search_inside": (30, 60, ALLOW),
            "search_everywhere": (30, 60, ALLOW),
            "edit": (60, 60, ALLOW),
            "react": (60, 60, ALLOW),
            "report": (20, 3600, ALLOW),
        }
    )

    # An image without a message counts as an abandoned upload after this time.
    ORPHAN_IMAGE_HOURS: int = 24
    # Messages of an erased account, and those it reacted to, that are announced one by one, per conversation.
    ERASURE_ANNOUNCED: int = 500
    # Messages that one statement of an erasure empties.
    ERASED_AT_ONCE: int = 20_000


conf = prefixed("MESSAGING", Defaults())
