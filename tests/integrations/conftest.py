"""Events of the team's server leave by the worker that delivers notifications."""

from tests.notifications.conftest import worker  # noqa: F401  (fixture)
