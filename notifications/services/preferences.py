"""Who wants to hear what."""

from collections.abc import Mapping

from accounts.unit_of_work import unit_of_work
from notifications.models import Preferences


def change(*, user_id: int, choices: Mapping[str, bool]) -> Preferences:
    """Sets the named switches, leaves the others. Pushes that wait are asked again when they are sent."""
    with unit_of_work():
        preferences, _ = Preferences.objects.update_or_create(user_id=user_id, defaults=dict(choices))
    return preferences
