"""Settings of a worker process that a test starts and kills: the product's own, with a short lease."""

import os

from config.settings import *  # noqa: F403

NOTIFICATIONS_LEASE_SECONDS = float(os.environ.get("TEST_LEASE_SECONDS", "4"))
NOTIFICATIONS_SWEEP_SECONDS = 0.5
