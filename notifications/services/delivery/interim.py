"""The names by which the feed calls the push queue, until that has landed."""

from collections.abc import Iterable


def enqueue_push(*, recipient_id: int, notification_id: int) -> None:
    """The row should reach the recipient's devices."""


def cancel(
    *,
    reason: str,
    device_ids: Iterable[int] | None = None,
    notification_ids: Iterable[int] | None = None,
    recipient_id: int | None = None,
) -> int:
    """Take back what still waits."""
    return 0
