"""Accounts as JSON: one module per story; what other apps use is named here."""

from accounts.serializers.people import user_card

__all__ = ["user_card"]
