"""Receivers of signals of accounts: what messaging does when an account changes."""

from typing import Any

from django.dispatch import receiver

from accounts.signals import account_erased
from messaging.services import erasure


@receiver(account_erased)
def _account_erased(sender: Any, user_id: int, **kwargs: Any) -> None:
    erasure.erase_person(user_id)
