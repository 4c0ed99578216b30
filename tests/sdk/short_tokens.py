"""Settings of a server whose tokens live for seconds, so that a test sees them renewed."""

from config.settings import *  # noqa: F403

LIFE_SECONDS = 16
ACCOUNTS_TOKEN_DAYS = LIFE_SECONDS / 86_400
ACCOUNTS_TOKEN_LEEWAY_SECONDS = 0
REALTIME_EXPIRING_SECONDS = 4
