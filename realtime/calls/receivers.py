"""Signals of other apps that end calls."""

from typing import Any

from django.dispatch import receiver

from accounts import signals as account_facts
from realtime.calls import services


@receiver(account_facts.block_changed)
def end_calls_between(*, blocker_id: int, blocked_id: int, blocked: bool, **_: Any) -> None:
    if blocked:
        services.end_between(user_id=blocker_id, other_id=blocked_id)


@receiver(account_facts.session_revoked)
def end_calls_of_sessions(*, user_id: int, session_ids: list[int], **_: Any) -> None:
    services.end_of_sessions(user_id=user_id, session_ids=session_ids)


@receiver(account_facts.account_erased)
def erase_calls(*, user_id: int, **_: Any) -> None:
    services.erase_of(user_id=user_id)
