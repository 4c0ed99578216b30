"""Signals of accounts become events for the user's own devices, or close sockets."""

from typing import Any

from django.dispatch import receiver

from accounts import signals
from accounts.exceptions import AccountBlocked, TokenRevoked
from realtime.services import log, sockets


@receiver(signals.block_changed)
def block_changed(blocker_id: int, blocked_id: int, blocked: bool, **kwargs: Any) -> None:
    log.append(user_id=blocker_id, type="block.changed", object_id=blocked_id, extra={"blocked": blocked})


@receiver(signals.profile_changed)
def profile_changed(user_id: int, **kwargs: Any) -> None:
    log.append(user_id=user_id, type="profile.updated")


@receiver(signals.session_revoked)
def session_revoked(user_id: int, session_ids: list[int], reason: str, **kwargs: Any) -> None:
    code = AccountBlocked.default_code if reason == "blocked" else TokenRevoked.default_code
    sockets.end_sessions(user_id=user_id, session_ids=session_ids, code=code)


@receiver(signals.session_tokens_replaced)
def session_tokens_replaced(user_id: int, **kwargs: Any) -> None:
    # A socket opened with an earlier token may exist, too. One that was opened or renewed with the new token stays.
    sockets.recheck(user_id=user_id)


@receiver(signals.account_status_changed)
def account_status_changed(user_id: int, **kwargs: Any) -> None:
    sockets.recheck(user_id=user_id)


@receiver(signals.account_erased)
def account_erased(user_id: int, **kwargs: Any) -> None:
    log.forget(user_id=user_id)
    sockets.recheck(user_id=user_id)
