"""The six switches."""

from typing import Any

from rest_framework import serializers

from core.fields import StrictBooleanField
from notifications.models import Preferences

NAMES = ("enabled", "quiet_mode", "likes", "comments", "follows", "messages")


def preferences_json(choice: Preferences) -> dict[str, bool]:
    """Section 2.6 of the contract."""
    return {name: getattr(choice, name) for name in NAMES}


class PreferencesInput(serializers.Serializer):
    enabled = StrictBooleanField()
    quiet_mode = StrictBooleanField()
    likes = StrictBooleanField()
    comments = StrictBooleanField()
    follows = StrictBooleanField()
    messages = StrictBooleanField()


class PreferencesOutput(serializers.Serializer):
    ok = serializers.BooleanField()
    preferences: Any = PreferencesInput()
