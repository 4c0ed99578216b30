"""Accounts as JSON: one module per story; what other apps use is named here."""

from accounts.serializers.people import avatar_url, user_card

__all__ = ["avatar_url", "user_card"]
