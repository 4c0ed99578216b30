"""The product's own settings, with a lease that a test can wait for and limits above what a machine can answer."""

from config.settings import *  # noqa: F403

NOTIFICATIONS_LEASE_SECONDS = 8
CORE_RATES = {"writes": (1_000_000, 60, "allow")}
