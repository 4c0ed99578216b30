"""Folders, secrets and hosts; database, Redis and files."""

from pathlib import Path
from typing import Any

from corsheaders.defaults import default_headers
from django.core.exceptions import ImproperlyConfigured

from config import environment
from config.environment import env
from core import redis_servers

BASE_DIR = Path(__file__).resolve().parent.parent.parent
VAR_DIR = environment.folder("VAR_DIR", default=BASE_DIR / "var")
try:
    VAR_DIR.mkdir(parents=True, exist_ok=True)
except OSError as error:
    raise ImproperlyConfigured(f"VAR_DIR={VAR_DIR} cannot be a folder: {error.strerror}.") from error

# Off by default; `dev.py run` switches it on.
DEBUG = environment.switch("DEBUG", default=False)
# Required settings that the environment lacks. Commands that start no server (migrate, check) run without them.
CORE_MISSING_SETTINGS = [] if DEBUG else environment.missing("SECRET_KEY", "SITE_URL", "TOKEN_KEYS")
SECRET_KEY = environment.secret("SECRET_KEY", kept_in=VAR_DIR)

# Where links in mails lead. `serve` on a laptop puts the address there that it serves on.
SITE_URL = environment.site("SITE_URL", env.str("SITE_URL", default="") or "http://127.0.0.1:8000")

# --- Hosts and origins ----------------------------------------------------------------------

ALLOWED_HOSTS = environment.hosts("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = [
    environment.site("CSRF_TRUSTED_ORIGINS", origin) for origin in environment.items("CSRF_TRUSTED_ORIGINS")
]
CORS_ALLOWED_ORIGINS = [
    environment.header("CORS_ALLOWED_ORIGINS", origin) for origin in environment.items("CORS_ALLOWED_ORIGINS")
]
CORS_URLS_REGEX = r"^/api/"
CORS_EXPOSE_HEADERS = ["X-Request-Id", "Retry-After", "ETag", "X-Poll-Interval", "Date"]
CORS_ALLOW_HEADERS = [
    *default_headers,
    "If-None-Match",
    "X-Action-Token",
    "X-Device-Name",
    "X-Device-Token",
    "X-Request-Id",
]
CORE_TRUSTED_PROXIES = environment.number("TRUSTED_PROXIES", default=0, least=0)

# --- Database -------------------------------------------------------------------------------

# How many requests `config.asgi` answers at once. The pool has a connection for each: requests wait in the queue for a
# thread (config.concurrency_limit), never for a connection; long-lived threads have connections outside of the pool.
REQUEST_THREADS = environment.number("DATABASE_POOL_SIZE", default=16, least=1, most=1000)

DATABASES: dict[str, dict[str, Any]] = {
    "default": environment.database("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'parley.sqlite3'}")
}
_database = DATABASES["default"]
_database.setdefault("OPTIONS", {})
EMBEDDED = _database["ENGINE"] == "django.db.backends.sqlite3"
if EMBEDDED:
    # IMMEDIATE takes the write lock at BEGIN, so that writers queue instead of failing "locked".
    _database["OPTIONS"] |= {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON;",
    }
else:
    _database["ENGINE"] = "core.postgres"
    _database["CONN_HEALTH_CHECKS"] = True
    _database["OPTIONS"].setdefault("connect_timeout", 3)
    _connections = environment.choice("DATABASE_CONNECTIONS", ("plain", "kept", "pool", "bouncer"), default="plain")
    if _connections == "bouncer":
        # PgBouncer in transaction mode: every transaction may meet another session of the server, so nothing
        # stays in one, and the limits below belong to the role.
        _database["CONN_MAX_AGE"] = None
        _database["DISABLE_SERVER_SIDE_CURSORS"] = True
        _database["OPTIONS"]["prepare_threshold"] = None
    else:
        _database["OPTIONS"] |= {
            # Uses of a statement of the hot paths (core.database) on a connection before it is prepared.
            "prepare_threshold": 3,
            # A prepared statement gets one plan for all values: PostgreSQL would plan those with arrays again each time.
            # The options of DATABASE_URL come last: PostgreSQL takes the last value of a setting.
            "options": "-c plan_cache_mode=force_generic_plan -c statement_timeout=10000 -c lock_timeout=3500"
            f" -c idle_in_transaction_session_timeout=15000 {_database['OPTIONS'].get('options', '')}".rstrip(),
        }
    if _connections == "kept":
        _database["CONN_MAX_AGE"] = None
    elif _connections == "pool":
        _database["CONN_MAX_AGE"] = 0
        _database["OPTIONS"]["pool"] = {
            "min_size": min(2, REQUEST_THREADS),
            "max_size": REQUEST_THREADS,
            "max_waiting": 64,
            "timeout": 3,
            "max_lifetime": 1800,
        }

# --- Redis ----------------------------------------------------------------------------------

REDIS_URL = environment.redis("REDIS_URL")
# Wake-ups are small and may be lost; a dead Redis must never slow a request.
CHANNEL_PREFIX = env.str("CHANNEL_PREFIX", default="parley")
if REDIS_URL:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {
                "hosts": [
                    server.for_channel_layer(
                        socket_connect_timeout=2, socket_timeout=15, socket_keepalive=True, health_check_interval=15
                    )
                    for server in redis_servers.parse(REDIS_URL)
                ],
                "prefix": CHANNEL_PREFIX,
            },
        }
    }
    CACHES = {
        "default": {
            "BACKEND": "core.redis_servers.ConfiguredRedisCache",
            "KEY_PREFIX": CHANNEL_PREFIX,
            "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 0.5},
        }
    }
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    # Room for the counters of many callers: a full cache would forget some of them.
    CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 200_000}}
    }

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Files ----------------------------------------------------------------------------------

MEDIA_ROOT = environment.folder("MEDIA_ROOT", default=VAR_DIR / "media")
MEDIA_SENDFILE = environment.prefix("MEDIA_SENDFILE")
# With an object store: clients are sent there for a minute, instead of getting the bytes from here.
MEDIA_REDIRECT = environment.switch("MEDIA_REDIRECT", default=False)
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": environment.media("MEDIA_URL"),
    "staticfiles": {"BACKEND": "config.static_files.HashedStaticFilesStorage"},
}
# The web client at `/` and below `/app/`; without it `/` leads to the documentation.
WEB_CLIENT = environment.switch("WEB_CLIENT", default=True)
# Found where they are: a release needs no collectstatic.
WHITENOISE_USE_FINDERS = True
# 500 events with the longest titles, in JSON that escapes every letter.
DATA_UPLOAD_MAX_MEMORY_SIZE = 524_288
# A confirmed action of the support pages names each of up to 500 rows.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 600
DATA_UPLOAD_MAX_NUMBER_FILES = 2
