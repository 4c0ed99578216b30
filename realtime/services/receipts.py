"""What an acknowledgement on a socket means to the people who wrote."""

from collections.abc import Mapping


def delivered(*, user_id: int, up_to: Mapping[int, int]) -> None:
    """A device of this person has the messages of these conversations up to these ids."""
