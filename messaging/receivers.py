"""Receives the signals of accounts."""

from typing import Any

from django.dispatch import receiver

from accounts import signals as accounts
from messaging.services import erasure


@receiver(accounts.account_erased)
def account_erased(sender: Any, user_id: int, **kwargs: Any) -> None:
    erasure.erase_user(user_id)
