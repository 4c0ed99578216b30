"""Changes of notification preferences."""

from collections.abc import Mapping

from core.transactions import unit_of_work
from notifications.models import Preferences


def change(*, user_id: int, choices: Mapping[str, bool]) -> Preferences:
    """Sets the named switches, leaves the others. Queued pushes are checked again when they are sent."""
    with unit_of_work():
        preferences, _ = Preferences.objects.update_or_create(user_id=user_id, defaults=dict(choices))
    return preferences
