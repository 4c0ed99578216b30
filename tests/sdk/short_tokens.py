"""Settings of a server whose tokens live for seconds, so that a test sees them renewed."""

import os
from datetime import timedelta

from config.settings import *  # noqa: F403
from config.settings import SIMPLE_JWT

LIFE_SECONDS = int(os.environ.get("TOKEN_LIFE_SECONDS", "16"))
SIMPLE_JWT = SIMPLE_JWT | {"ACCESS_TOKEN_LIFETIME": timedelta(seconds=LIFE_SECONDS), "LEEWAY": 0}
REALTIME_EXPIRING_SECONDS = int(os.environ.get("TOKEN_EXPIRING_SECONDS", "4"))
