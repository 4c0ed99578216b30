"""Serializers of accounts; this module names those that other apps use."""

from accounts.serializers.account import ProfileSerializer
from accounts.serializers.people import PersonRow, PersonSerializer

__all__ = ["PersonRow", "PersonSerializer", "ProfileSerializer"]
