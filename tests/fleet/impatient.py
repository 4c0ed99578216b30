"""The product's own settings for delivery, with a lease that a test can wait for."""

from config.settings import *  # noqa: F403

NOTIFICATIONS_LEASE_SECONDS = 8
