"""Serializers of accounts; this module names those that other apps use."""

from accounts.serializers.people import avatar_url, user_card

__all__ = ["avatar_url", "user_card"]
