"""Every setting of Parley, read from the environment once.

The embedded default needs no other server: SQLite, an in-memory channel layer, mail and push into
outboxes under `var/`. Environment variables select PostgreSQL, Redis, SMTP and FCM.
"""

from config.settings.applications import *  # noqa: F403
from config.settings.base import *  # noqa: F403
from config.settings.product import *  # noqa: F403
