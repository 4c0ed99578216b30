"""Settings of a server whose mail and push services a test breaks: the product's own, less patient."""

from config.settings import *  # noqa: F403

NOTIFICATIONS_RETRY_SECONDS = (0.3, 0.5, 0.5, 0.5, 0.5)
NOTIFICATIONS_PAUSE_SECONDS = (0.3, 1.0)
NOTIFICATIONS_SWEEP_SECONDS = 0.5
NOTIFICATIONS_PUSH_TIMEOUT_SECONDS = 1
NOTIFICATIONS_MAIL_ACCEPT_SECONDS = 1
NOTIFICATIONS_TRIES = 1000
NOTIFICATIONS_PUSH_GROUP_SECONDS = 0
NOTIFICATIONS_MAIL_TRANSPORT["OPTIONS"]["timeout"] = 1  # type: ignore[name-defined]  # noqa: F405
