"""Settings of the test suite: the product's own, with fast hashes and everything under a scratch folder.

`BACKEND=postgres` runs it on PostgreSQL and Redis (TEST_DATABASE_URL, TEST_REDIS_URL), otherwise on
SQLite and memory.
"""

import atexit
import os
import secrets
import shutil
import tempfile

SCRATCH = tempfile.mkdtemp(prefix="parley-tests-")
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
os.environ["VAR_DIR"] = SCRATCH
os.environ["DEBUG"] = "1"
os.environ["CHANNEL_PREFIX"] = f"test-{secrets.token_hex(4)}"
if os.environ.get("BACKEND") == "postgres":
    os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/parley")
    os.environ["REDIS_URL"] = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/0")
else:
    os.environ["DATABASE_URL"] = f"sqlite:///{SCRATCH}/parley.sqlite3"
    os.environ["REDIS_URL"] = ""

from config.settings import *  # noqa: E402, F403
from tests import migrated  # noqa: E402

# A file, not memory: threads of a test must see the same database.
if EMBEDDED:  # noqa: F405
    DATABASES["default"]["TEST"] = {"NAME": f"{SCRATCH}/test.sqlite3"}  # noqa: F405
    if os.environ.get("REUSE_DATABASE") and migrated.TEMPLATE.exists():
        shutil.copy(migrated.TEMPLATE, f"{SCRATCH}/test.sqlite3")
        DATABASES["default"]["TEST"]["MIGRATE"] = False  # noqa: F405

INSTALLED_APPS = ["tests.flush", *INSTALLED_APPS]  # noqa: F405
PASSWORD_HASHERS = ["tests.hashers.QuickHasher"]
# Rates have tests of their own, which switch them on.
RATELIMIT_ENABLE = False
# Static files are looked up when asked for instead of being listed for every test client.
WHITENOISE_AUTOREFRESH = True
