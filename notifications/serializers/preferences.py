"""The six switches."""

from typing import Any

from rest_framework import serializers

from core.fields import StrictBooleanField
from core.serializers import OkReply
from notifications.models import Preferences

NAMES = ("enabled", "quiet_mode", "likes", "comments", "follows", "messages")


class PreferencesInput(serializers.Serializer):
    """Section 2.6 of the contract, both as it comes in and as it goes out."""

    enabled = StrictBooleanField()
    quiet_mode = StrictBooleanField()
    likes = StrictBooleanField()
    comments = StrictBooleanField()
    follows = StrictBooleanField()
    messages = StrictBooleanField()

    @classmethod
    def render(cls, choice: Preferences) -> dict[str, bool]:
        return {name: getattr(choice, name) for name in NAMES}


class PreferencesOutput(OkReply):
    preferences: Any = PreferencesInput()
