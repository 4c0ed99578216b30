"""What happens to accounts becomes events for one's own devices, and closes sockets."""

from typing import Any

from django.dispatch import receiver

from accounts import signals as facts
from realtime.services import log, sockets


@receiver(facts.block_changed)
def block_changed(blocker_id: int, blocked_id: int, blocked: bool, **kwargs: Any) -> None:
    log.append(user_id=blocker_id, type="block.changed", object_id=blocked_id, extra={"blocked": blocked})


@receiver(facts.profile_changed)
def profile_changed(user_id: int, **kwargs: Any) -> None:
    log.append(user_id=user_id, type="profile.updated")


@receiver(facts.session_revoked)
def session_revoked(user_id: int, session_ids: list[int], **kwargs: Any) -> None:
    sockets.end_sessions(user_id=user_id, session_ids=session_ids)


@receiver(facts.standing_changed)
def standing_changed(user_id: int, **kwargs: Any) -> None:
    sockets.recheck(user_id=user_id)


@receiver(facts.account_erased)
def account_erased(user_id: int, **kwargs: Any) -> None:
    log.forget(user_id=user_id)
    sockets.recheck(user_id=user_id)
