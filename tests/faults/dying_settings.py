"""Settings of a server that dies while it sends events: the product's own, with the values and the app of `dying`."""

from config.settings import *  # noqa: F403
from tests.faults.dying import QUICK

INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.dying.Dying"]  # noqa: F405
globals().update(QUICK)
