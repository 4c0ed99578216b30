"""Every setting, read from the environment once.

The embedded default needs no other server: SQLite, an in-memory channel layer, mail and push into
outboxes under `var/`. Environment variables select PostgreSQL, Redis, SMTP and FCM.
"""

import sys
from datetime import timedelta
from email.utils import formataddr
from pathlib import Path
from typing import Any

from corsheaders.defaults import default_headers
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from config import environment
from config.environment import env
from core import redis_servers
from core.version import VERSION
from notifications.conf import PUSH_PROVIDERS

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = environment.folder("VAR_DIR", default=BASE_DIR / "var")
try:
    # Only this user may read it, because it contains the database, mails and keys.
    VAR_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
except OSError as error:
    raise ImproperlyConfigured(f"VAR_DIR={VAR_DIR} cannot be a folder: {error.strerror}.") from error

# Off by default; `dev.py run` switches it on.
DEBUG = environment.switch("DEBUG", default=False)
# Required settings that are not set. Commands that do not start a server (migrate, check) run without them.
CORE_MISSING_SETTINGS = [] if DEBUG else environment.missing("SECRET_KEY", "SITE_URL", "TOKEN_KEYS")
SECRET_KEY = environment.secret("SECRET_KEY", kept_in=VAR_DIR)

# The address for links in mails. `serve` on a laptop replaces it with its own address.
SITE_URL = environment.site("SITE_URL", env.str("SITE_URL", default="") or "http://127.0.0.1:8000")

# --- Hosts and origins ----------------------------------------------------------------------

ALLOWED_HOSTS = environment.hosts("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = [
    environment.origin("CSRF_TRUSTED_ORIGINS", origin) for origin in environment.items("CSRF_TRUSTED_ORIGINS")
]
CORS_ALLOWED_ORIGINS = [
    environment.origin("CORS_ALLOWED_ORIGINS", origin) for origin in environment.items("CORS_ALLOWED_ORIGINS")
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

# How many requests `config.asgi` answers at once. The pool has a connection for each, so requests wait for a thread
# (server.concurrency_limit), never for a connection. Long-lived threads have connections outside of the pool.
REQUEST_THREADS = environment.number("DATABASE_POOL_SIZE", default=16, least=1, most=1000)

DATABASES: dict[str, dict[str, Any]] = {
    "default": environment.database("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'parley.sqlite3'}")
}
_database = DATABASES["default"]
_database.setdefault("OPTIONS", {})
EMBEDDED = _database["ENGINE"] == "django.db.backends.sqlite3"
if EMBEDDED:
    # IMMEDIATE takes the write lock at BEGIN, so that writers queue instead of failing with "locked".
    _database["OPTIONS"] |= {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON;",
    }
else:
    _database["ENGINE"] = "core.database.postgres"
    _database["CONN_HEALTH_CHECKS"] = True
    _database["OPTIONS"].setdefault("connect_timeout", 3)
    _connections = environment.choice("DATABASE_CONNECTIONS", ("plain", "kept", "pool", "bouncer"), default="plain")
    if _connections == "bouncer":
        # PgBouncer in transaction mode gives every transaction any session of the server. So nothing is kept in a
        # session, and the limits below must be set for the role.
        _database["CONN_MAX_AGE"] = None
        _database["DISABLE_SERVER_SIDE_CURSORS"] = True
        _database["OPTIONS"]["prepare_threshold"] = None
    else:
        _database["OPTIONS"] |= {
            # A statement of the hot paths (core.database) is prepared after this many uses on a connection.
            "prepare_threshold": 3,
            # A prepared statement gets one plan for all values, because PostgreSQL would plan statements with arrays
            # each time (docs/decisions/database.md#0074). The options of DATABASE_URL come last, because PostgreSQL
            # takes the last value of a setting.
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
# Wake-ups are small and may be lost, and an unreachable Redis must never slow a request.
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
    # Room for the counters of many callers; a full cache would forget some of them.
    CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 200_000}}
    }

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Files ----------------------------------------------------------------------------------

MEDIA_ROOT = environment.folder("MEDIA_ROOT", default=VAR_DIR / "media")
MEDIA_SENDFILE = environment.prefix("MEDIA_SENDFILE")
# A proxy is another user, who must be able to read the images and their folders. Without a proxy, no other user may.
FILE_UPLOAD_PERMISSIONS = 0o644 if MEDIA_SENDFILE else 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o755 if MEDIA_SENDFILE else 0o700
# With an object store, clients are redirected to an address that is valid for a minute, instead of getting the bytes
# from here.
MEDIA_REDIRECT = environment.switch("MEDIA_REDIRECT", default=False)
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": environment.media("MEDIA_URL"),
    "staticfiles": {"BACKEND": "server.static_files.HashedStaticFilesStorage"},
}
# The web client at `/` and below `/app/`; without it `/` leads to the documentation.
WEB_CLIENT = environment.switch("WEB_CLIENT", default=True)
# Served from their source folders, so a release does not need collectstatic.
WHITENOISE_USE_FINDERS = True
# 500 events with the longest titles, in JSON that escapes every letter.
DATA_UPLOAD_MAX_MEMORY_SIZE = 524_288
# A confirmed action of the support pages names each of up to 500 rows.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 600
DATA_UPLOAD_MAX_NUMBER_FILES = 2

# What mails, pages, the web client and the documentation call the service, and what they show and offer of the team.
PRODUCT_NAME = environment.product_name("PRODUCT_NAME", default="Parley")
PRODUCT_LOGO = environment.picture("PRODUCT_LOGO")
PRODUCT_URL = environment.web_address("PRODUCT_URL")
SUPPORT_EMAIL = environment.mailbox("SUPPORT_EMAIL")
# The issuer that an authenticator app shows.
OTP_TOTP_ISSUER = PRODUCT_NAME

# --- Accounts -------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
# kid:secret pairs, newest first. The first signs, all verify.
ACCOUNTS_TOKEN_KEYS = environment.secret("TOKEN_KEYS", kept_in=VAR_DIR, prefix="dev:")
ACCOUNTS_TOKEN_KEYS_FILE = None if environment.text("TOKEN_KEYS") else environment.kept_path("TOKEN_KEYS", VAR_DIR)
SIMPLE_JWT = {
    "AUTH_TOKEN_CLASSES": ["accounts.tokens.SessionToken"],
    "ACCESS_TOKEN_LIFETIME": timedelta(days=7),
    # How far the clocks of two machines may differ, in seconds.
    "LEEWAY": 30,
    "ISSUER": "parley",
    "AUDIENCE": "parley-api",
    "TOKEN_TYPE_CLAIM": "typ",
    "USER_ID_CLAIM": "sub",
}
# Without Redis, only the single process of the embedded default may count in its own memory.
CORE_COUNTER_IS_SHARED = bool(REDIS_URL) or EMBEDDED
# The first hashes; the others verify passwords that the team's own server has imported.
PASSWORD_HASHERS = [
    "accounts.hashers.BoundedArgon2Hasher",
    "accounts.hashers.ImportedPBKDF2Hasher",
    "accounts.hashers.ImportedBCryptHasher",
    "accounts.hashers.ImportedBCryptSHA256Hasher",
    "accounts.hashers.ImportedScryptHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 8}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("first_name", "last_name", "username", "email")},
    },
]
RATELIMIT_ENABLE = environment.switch("RATELIMIT_ENABLE", default=True)

ACCOUNTS_STORAGE_QUOTA_DAY_MB = environment.number("STORAGE_QUOTA_DAY_MB", default=500, least=1)
ACCOUNTS_STORAGE_QUOTA_TOTAL_MB = environment.number("STORAGE_QUOTA_TOTAL_MB", default=5_120, least=1)

# --- Notifications --------------------------------------------------------------------------

NOTIFICATIONS_PUSH_BACKEND = environment.choice("PUSH_BACKEND", PUSH_PROVIDERS, default="outbox")
NOTIFICATIONS_FCM_CREDENTIALS = env.str("PUSH_FCM_CREDENTIALS", default="")
NOTIFICATIONS_FCM_ENDPOINT = env.str("PUSH_FCM_ENDPOINT", default="")
# fcm-django's device, which notifications extends.
FCM_DJANGO_FCMDEVICE_MODEL = "notifications.Device"
# Its own migrations would create the table of the device that this one replaces.
MIGRATION_MODULES = {"fcm_django": None}
NOTIFICATIONS_EVENT_SOURCES = env.str("EVENT_SOURCES", default="")
NOTIFICATIONS_PUSH_OUTBOX = VAR_DIR / "push"

# --- The team's own server --------------------------------------------------------------------

# The targets of events: name|https://host/path|whsec_<base64>|types, separated by lines or spaces.
INTEGRATIONS_WEBHOOKS = env.str("WEBHOOKS", default="")
# Tokens for other services of the team: PEM files, newest first, and the audiences that may be requested.
INTEGRATIONS_IDENTITY_KEYS = environment.items("IDENTITY_KEYS")
INTEGRATIONS_IDENTITY_AUDIENCES = environment.items("IDENTITY_AUDIENCES")
INTEGRATIONS_IDENTITY_KEYS_ARE_MADE = DEBUG

# --- Mail: Django's send_mail writes to the queue, the worker uses this transport ---------------

EMAIL_BACKEND = "notifications.services.delivery.mail.QueueingEmailBackend"
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="") or formataddr(
    (PRODUCT_NAME, f"no-reply@{slugify(PRODUCT_NAME) or 'chat'}.localhost")
)
EMAIL_TIMEOUT = 10
_mailbox = (VAR_DIR / "mail").absolute()
NOTIFICATIONS_MAIL_TRANSPORT = environment.mail("EMAIL_URL", default=_mailbox.as_uri(), timeout=EMAIL_TIMEOUT)
# The folder that `/dev/mail/` shows.
MAILBOX_DIR = Path(NOTIFICATIONS_MAIL_TRANSPORT["OPTIONS"].get("file_path", _mailbox))

# --- Calls ----------------------------------------------------------------------------------

REALTIME_HANDSHAKES_PER_MINUTE = environment.number("SOCKET_HANDSHAKES_PER_MINUTE", default=300, least=1)
REALTIME_CALL_RING_SECONDS = environment.number("CALL_RING_SECONDS", default=60, least=1, most=3600)
REALTIME_CALL_CONNECT_SECONDS = environment.number("CALL_CONNECT_SECONDS", default=30, least=1, most=3600)
REALTIME_CALL_LOST_SECONDS = environment.number("CALL_LOST_SECONDS", default=60, least=1, most=3600)
REALTIME_TURN_URLS = environment.items("TURN_URLS")
REALTIME_TURN_SECRET = env.str("TURN_SECRET", default="")
REALTIME_STUN_URLS = environment.items("STUN_URLS")

# --- Staff ----------------------------------------------------------------------------------

# The pages of django-otp do not show keys, codes or QR pictures of other staff.
OTP_ADMIN_HIDE_SENSITIVE_DATA = True
# Tries are counted by account and network (accounts.staff.sign_in). A delay of the device would lock out its owner.
OTP_TOTP_THROTTLE_FACTOR = OTP_STATIC_THROTTLE_FACTOR = 0

# --- Languages ------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", _("English")),
    ("ru", _("Russian")),
    ("es", _("Spanish")),
    ("de", _("German")),
    ("fr", _("French")),
    ("pt", _("Portuguese")),
    ("tr", _("Turkish")),
    ("uk", _("Ukrainian")),
    ("ar", _("Arabic")),
    ("zh-hans", _("Chinese")),
]
LOCALE_PATHS = [BASE_DIR / "config" / "locale"]
TIME_ZONE = "UTC"
# The format of times on the support pages.
FORMAT_MODULE_PATH = ["config.formats"]

INSTALLED_APPS = [
    # First, as daphne asks, so that `runserver` is its own. No other process needs it, and it loads Twisted (16 MB).
    *(["daphne"] if "runserver" in sys.argv else []),
    "config",
    "server",
    "portal",
    "integrations",
    "realtime",
    "notifications",
    "messaging",
    "accounts",
    "core",
    "config.apps.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "fcm_django",
    "rest_framework",
    "drf_spectacular",
    "corsheaders",
    "csp",
    "channels",
]

# Cookies, sessions and CSRF protection are for the admin only, because the API uses a bearer token.
MIDDLEWARE = [
    "server.middleware.RequestContextMiddleware",
    "server.middleware.AccessLogMiddleware",
    "server.middleware.ContentPolicyMiddleware",
    "server.middleware.SecurityHeadersMiddleware",
    "server.static_files.StaticFilesMiddleware",
    "server.middleware.CrossOriginMiddleware",
    "server.middleware.LanguageMiddleware",
    "server.admin_middleware.AdminSessionMiddleware",
    "server.admin_middleware.AdminCsrfMiddleware",
    "server.admin_middleware.AdminAuthenticationMiddleware",
    "server.admin_middleware.AdminSecondFactorMiddleware",
    "server.admin_middleware.AdminMessageMiddleware",
    "server.middleware.EnvelopeMiddleware",
]

ROOT_URLCONF = "config.urls"
APPEND_SLASH = False
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "portal.pages.brand",
            ],
        },
    },
]

# --- The API --------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["core.api.renderers.EnvelopeRenderer"],
    "DEFAULT_PARSER_CLASSES": ["core.api.parsers.StrictJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "core.api.renderers.ContentNegotiation",
    "DEFAULT_THROTTLE_CLASSES": ["core.api.throttles.DeclaredThrottles"],
    "DEFAULT_SCHEMA_CLASS": "portal.docs.openapi.schema.EnvelopeSchema",
    "EXCEPTION_HANDLER": "core.api.errors.envelope",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": PRODUCT_NAME,
    "DESCRIPTION": "Accounts, one-to-one messaging, calls and notifications behind one API.",
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "CallMedia": "realtime.models.Call.Media",
        "CallState": "realtime.models.Call.State",
        "CallDeclineReason": ["declined", "busy"],
        "ServerUserStatus": ["active", "unverified", "blocked", "deletion_scheduled"],
        "WhoCanMessage": "accounts.models.User.WhoCanMessage",
        "IceTransportPolicy": ["all", "relay"],
        "EventAction": "notifications.kinds.ACTIONS",
        "EventType": "notifications.kinds.EVENT_KINDS",
    },
    "SERVERS": [{"url": "/", "description": "This server"}],
    "CONTACT": {
        "name": f"{PRODUCT_NAME} support",
        **({"email": SUPPORT_EMAIL} if SUPPORT_EMAIL else {}),
        **({"url": PRODUCT_URL} if PRODUCT_URL else {}),
    },
    "LICENSE": {"name": "MIT License", "identifier": "MIT"},
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "portal.docs.openapi.hooks.complete"],
}

# The pages under /docs and /api/docs. Without them the schemas remain, for generated clients.
DOCS = environment.switch("DOCS", default=True)

# --- Metrics and logs ------------------------------------------------------------------------

METRICS_TOKEN = environment.header("METRICS_TOKEN")
LOG_FORMAT = environment.choice("LOG_FORMAT", ("text", "json"), default="text")
LOG_LEVEL = environment.choice("LOG_LEVEL", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"), default="INFO")
SENTRY_DSN = env.str("SENTRY_DSN", default="")
if SENTRY_DSN:
    from server.telemetry import start_sentry

    start_sentry(SENTRY_DSN)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "bounded": {
            "()": "server.logs.BoundedFilter",
            "loggers": ["server.middleware", "uvicorn.error", "websockets.server"],
        },
        "context": {"()": "server.logs.ContextFilter"},
    },
    "formatters": {
        "text": {"()": "server.logs.TextFormatter", "format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "server.logs.JsonFormatter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["bounded", "context"],
        }
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        # In development, a log line per request would only hide other lines.
        "parley.access": {"level": "INFO" if LOG_FORMAT == "json" else "WARNING"},
        "django.request": {"level": "ERROR"},
    },
}

# --- Security headers ------------------------------------------------------------------------

CSRF_FAILURE_VIEW = "server.error_pages.form_refused"
# Without https in SITE_URL, as on a single machine that was started by hand, there is no https to redirect to.
HTTPS = not DEBUG and SITE_URL.startswith("https://")
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 12 * 3600
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "media-src": [SELF, "blob:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if CORE_TRUSTED_PROXIES else None
SECURE_SSL_REDIRECT = HTTPS
# The API and health checks never redirect to https. Development pages do not exist there.
SECURE_REDIRECT_EXEMPT = [r"^api/", r"^healthz$", r"^readyz$", r"^metrics$", r"^dev/"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS

SILENCED_SYSTEM_CHECKS = [
    # The limiter needs one atomic counter for all processes. That is Redis in the fleet; the single process of the
    # embedded default counts in its own memory.
    "django_ratelimit.E003",
    "django_ratelimit.W001",
    # These checks look for Django's own classes by name, but MIDDLEWARE has subclasses of them (server.middleware).
    "security.W001",
    "security.W002",
    "security.W003",
]
