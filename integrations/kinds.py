"""The types of outgoing events, and the patterns that choose some of them."""

from collections.abc import Iterable

# Type → when it is written.
EVENT_TYPES = {
    "account.created": "An account was created.",
    "account.verified": "The address of an account was confirmed.",
    "account.updated": "Name, username, picture, text, language or address of a user changed.",
    "account.blocked": "Staff or your server blocked an account.",
    "account.unblocked": "Staff or your server unblocked an account.",
    "account.deletion_scheduled": "A user has asked for the deletion of the account.",
    "account.deletion_cancelled": "The deletion was cancelled.",
    "account.erased": "An account was erased, with everything that it had written.",
    "session.created": "A user signed in, or your server opened a session.",
    "session.ended": "A session ended.",
    "message.created": "A message was sent.",
    "message.updated": "The text of a message changed.",
    "message.deleted": "A message was deleted for both participants.",
    "report.created": "A participant reported a message.",
    "report.closed": "Staff closed a report.",
    "call.ended": "A call ended, answered or not.",
    "block.created": "A user blocked another one.",
    "block.removed": "A user removed a block.",
}
# A test by an operator; a target cannot ask for it.
TEST = "test"


def types_of(patterns: Iterable[str]) -> frozenset[str]:
    """The types that these patterns choose: `*`, `account.*`, `message.created`. ValueError for one that chooses none."""
    chosen: set[str] = set()
    for pattern in patterns:
        if pattern == "*":
            found = set(EVENT_TYPES)
        elif pattern.endswith(".*"):
            found = {name for name in EVENT_TYPES if name.startswith(pattern[:-1])}
        else:
            found = {pattern} & EVENT_TYPES.keys()
        if not found:
            raise ValueError(pattern)
        chosen |= found
    return frozenset(chosen)
