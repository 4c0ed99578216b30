"""Settings of a server that soon finds the sockets of a process that died."""

from config.settings import *  # noqa: F403

REALTIME_SWEEP_SECONDS = 5
