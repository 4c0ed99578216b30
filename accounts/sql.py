"""The rules and tables of accounts as SQL, for the hand-written statements of every app.

A condition is the same as the QuerySet method that its docstring names; a test compares them. `u`, `a` and `b` are aliases or column names; each %s takes the current time.
"""

from typing import NamedTuple

from accounts.models import Block, Image, User
from accounts.text import display_name

USERS = User._meta.db_table
IMAGES = Image._meta.db_table
_BLOCKS = Block._meta.db_table


class PersonRow(NamedTuple):
    """The columns of a user that a card shows, in place of a whole user."""

    id: int
    username: str
    first_name: str
    last_name: str
    avatar_token: str

    @property
    def display_name(self) -> str:
        return display_name(self.first_name, self.last_name, self.username)


def card(u: str) -> str:
    """The columns of a PersonRow."""
    return ", ".join(f"{u}.{name}" for name in PersonRow._fields)


# The columns of an image that a message shows.
IMAGE_COLUMNS = ("token", "width", "height", "mime", "size", "blurhash")


def image_token(i: str) -> str:
    """The token of an image, from which its path is built."""
    return f"{i}.token"


def read_receipts(u: str) -> str:
    """Whether the user sends and gets read receipts."""
    return f"{u}.read_receipts"


def is_active(u: str) -> str:
    """User.objects.active()."""
    return f"({u}.blocked_at IS NULL OR {u}.blocked_until <= %s)"


def blocked_between(a: str, b: str) -> str:
    """Block.objects.between(), of two columns that hold user ids."""
    return f"({_has_blocked(a, b)} OR {_has_blocked(b, a)})"


def no_block_between(a: str, b: str) -> str:
    """The opposite, in the form that PostgreSQL plans as two anti-joins."""
    return f"(NOT {_has_blocked(a, b)} AND NOT {_has_blocked(b, a)})"


def who_can_message(u: str) -> str:
    """The privacy setting; an erased account cannot be contacted."""
    return f"CASE WHEN {u}.erased_at IS NULL THEN {u}.who_can_message ELSE '{User.WhoCanMessage.NOBODY}' END"


def _has_blocked(a: str, b: str) -> str:
    return f"EXISTS (SELECT 1 FROM {_BLOCKS} made WHERE made.blocker_id = {a} AND made.blocked_id = {b})"
