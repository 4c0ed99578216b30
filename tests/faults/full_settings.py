"""Settings of a server whose services a full run breaks: the product's own timeouts and pauses.

No row is given up for want of tries: all these troubles together last longer than any one that a row is meant to
survive when there are too few people for the whole channel to rest.
"""

from config.settings import *  # noqa: F403

NOTIFICATIONS_TRIES = 1000
NOTIFICATIONS_RETRY_SECONDS = (1, 4, 15)
NOTIFICATIONS_PUSH_GROUP_SECONDS = 5
