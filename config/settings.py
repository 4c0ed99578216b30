"""Every setting of Parley, read from the environment once.

The embedded default needs no other server: SQLite, an in-memory channel layer, mail and push into
outboxes under `var/`. PostgreSQL, Redis, SMTP and FCM are a matter of environment variables.
"""

import secrets
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from config import environment

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.str("VAR_DIR", default=str(BASE_DIR / "var")))
try:
    VAR_DIR.mkdir(parents=True, exist_ok=True)
except OSError as error:
    raise ImproperlyConfigured(f"VAR_DIR={VAR_DIR} cannot be a folder: {error.strerror}.") from error

DEBUG = environment.switch("DEBUG", default=True)


def _secret(name: str) -> str:
    """The secret from the environment; on a laptop, a random one kept in `var/`."""
    value = env.str(name, default="")
    if value:
        return value
    if not DEBUG:
        raise ImproperlyConfigured(f"{name} must be set when DEBUG=0.")
    path = VAR_DIR / f"{name.lower()}.txt"
    if not path.exists():
        path.touch(mode=0o600)
        prefix = "dev:" if name == "TOKEN_KEYS" else ""
        path.write_text(prefix + secrets.token_urlsafe(48))
    return path.read_text().strip()


SECRET_KEY = _secret("SECRET_KEY")

# --- Who may talk to us ---------------------------------------------------------------------

ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
CORS_ALLOWED_ORIGINS = env.list("CORS_ALLOWED_ORIGINS", default=[])
CORS_URLS_REGEX = r"^/api/"
CORS_EXPOSE_HEADERS = ["X-Request-Id", "Retry-After", "ETag", "X-Poll-Interval"]
TRUSTED_PROXIES = environment.number("TRUSTED_PROXIES", default=0, least=0)

# --- Applications ---------------------------------------------------------------------------

INSTALLED_APPS = [
    "daphne",
    "config",
    "realtime",
    "notifications",
    "messaging",
    "accounts",
    "config.apps.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "corsheaders",
    "channels",
]

# Cookies, sessions and CSRF belong to the admin alone: the API carries a bearer token.
MIDDLEWARE = [
    "config.middleware.RequestContextMiddleware",
    "config.logs.AccessLogMiddleware",
    "config.metrics.MetricsMiddleware",
    "config.middleware.SecurityHeadersMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "config.middleware.LanguageMiddleware",
    "config.middleware.AdminSessionMiddleware",
    "config.middleware.AdminCsrfMiddleware",
    "config.middleware.AdminAuthenticationMiddleware",
    "config.middleware.AdminMessageMiddleware",
    "config.middleware.EnvelopeMiddleware",
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
            ],
        },
    },
]

# --- Data -----------------------------------------------------------------------------------

# How many requests `config.asgi` answers at once. Each finds a connection in the pool: whoever must wait
# does so before, in the line for a thread (config.admission); threads that stay leave the pool alone.
REQUEST_THREADS = environment.number("DATABASE_POOL_SIZE", default=16, least=1)

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
    _database["ENGINE"] = "config.postgres"
    _database["CONN_HEALTH_CHECKS"] = True
    _database["OPTIONS"]["connect_timeout"] = 3
    _connections = environment.choice("DATABASE_CONNECTIONS", ("plain", "kept", "pool", "bouncer"), default="plain")
    if _connections == "bouncer":
        # PgBouncer in transaction mode: every transaction may meet another session of the server, so nothing
        # stays in one, and the limits below belong to the role.
        _database["CONN_MAX_AGE"] = None
        _database["DISABLE_SERVER_SIDE_CURSORS"] = True
        _database["OPTIONS"]["prepare_threshold"] = None
    else:
        _database["OPTIONS"] |= {
            # Uses of a statement of the hot paths (accounts.statements) on a connection before it is prepared.
            "prepare_threshold": 3,
            "options": "-c statement_timeout=10000 -c lock_timeout=3500 -c idle_in_transaction_session_timeout=15000",
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

REDIS_URL = environment.redis("REDIS_URL")
# Wake-ups are small and may be lost; a dead Redis must never slow a request.
CHANNEL_PREFIX = env.str("CHANNEL_PREFIX", default="parley")
if REDIS_URL:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {
                "hosts": [
                    {
                        "address": REDIS_URL,
                        "socket_connect_timeout": 2,
                        "socket_timeout": 15,
                        "socket_keepalive": True,
                        "health_check_interval": 15,
                    }
                ],
                "prefix": CHANNEL_PREFIX,
            },
        }
    }
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": REDIS_URL,
            "KEY_PREFIX": CHANNEL_PREFIX,
            "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 0.5},
        }
    }
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    # Room for the counters of many callers: a full cache would forget some of them.
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "OPTIONS": {"MAX_ENTRIES": 200_000},
        }
    }

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Accounts -------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
# kid:secret pairs, newest first: the first signs, all verify.
ACCOUNTS_TOKEN_KEYS = _secret("TOKEN_KEYS")
ACCOUNTS_TRUSTED_PROXIES = TRUSTED_PROXIES
# Without Redis, only the single process of the embedded default may count in its own memory.
ACCOUNTS_COUNTER_IS_SHARED = bool(REDIS_URL) or EMBEDDED
PASSWORD_HASHERS = [
    "accounts.hashers.BoundedArgon2Hasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 8},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("first_name", "last_name", "email")},
    },
]
RATELIMIT_ENABLE = environment.switch("RATELIMIT_ENABLE", default=True)

# --- Notifications --------------------------------------------------------------------------

NOTIFICATIONS_PUSH_BACKEND = env.str("PUSH_BACKEND", default="outbox")
NOTIFICATIONS_FCM_CREDENTIALS = env.str("PUSH_FCM_CREDENTIALS", default="")
NOTIFICATIONS_FCM_ENDPOINT = env.str("PUSH_FCM_ENDPOINT", default="")
# Where fcm-django's own tools find devices, should they be installed beside ours.
FCM_DJANGO_FCMDEVICE_MODEL = "notifications.Device"
NOTIFICATIONS_EVENT_SOURCES = env.str("EVENT_SOURCES", default="")
NOTIFICATIONS_PUSH_OUTBOX = VAR_DIR / "push"

# --- Mail: accounts call Django's send_mail, the queue stands in between -----------------------

EMAIL_BACKEND = "notifications.mail_backend.QueueingEmailBackend"
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="Parley <no-reply@localhost>")
EMAIL_TIMEOUT = 10


MAILBOX_DIR = VAR_DIR / "mail"
NOTIFICATIONS_MAIL_TRANSPORT = environment.mail("EMAIL_URL", default=f"file://{MAILBOX_DIR}", timeout=EMAIL_TIMEOUT)

# --- Files ----------------------------------------------------------------------------------

MEDIA_ROOT = Path(env.str("MEDIA_ROOT", default=str(VAR_DIR / "media")))
MEDIA_SENDFILE = environment.prefix("MEDIA_SENDFILE")
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Found where they are: a release needs no collectstatic.
WHITENOISE_USE_FINDERS = True
DATA_UPLOAD_MAX_MEMORY_SIZE = 262_144
DATA_UPLOAD_MAX_NUMBER_FIELDS = 100
DATA_UPLOAD_MAX_NUMBER_FILES = 2

# --- Calls ----------------------------------------------------------------------------------

REALTIME_CALL_RING_SECONDS = environment.number("CALL_RING_SECONDS", default=60, least=1)
REALTIME_CALL_CONNECT_SECONDS = environment.number("CALL_CONNECT_SECONDS", default=30, least=1)
REALTIME_CALL_LOST_SECONDS = environment.number("CALL_LOST_SECONDS", default=60, least=1)
REALTIME_TURN_URLS = env.list("TURN_URLS", default=[])
REALTIME_TURN_SECRET = env.str("TURN_SECRET", default="")
REALTIME_STUN_URLS = env.list("STUN_URLS", default=[])

# --- Staff ----------------------------------------------------------------------------------

# The pages of django-otp show no keys, codes or QR pictures of other staff.
OTP_ADMIN_HIDE_SENSITIVE_DATA = True

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
USE_TZ = True
USE_I18N = True

# --- The API --------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["config.renderers.EnvelopeRenderer"],
    "DEFAULT_PARSER_CLASSES": ["config.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "config.schema.EnvelopeSchema",
    "EXCEPTION_HANDLER": "config.errors.envelope",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Parley",
    "DESCRIPTION": "Accounts, one-to-one messaging, calls and notifications behind one API.",
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.schema.describe_errors",
        "config.schema.name_ids",
    ],
}

# --- Operations -----------------------------------------------------------------------------

METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
LOG_FORMAT = environment.choice("LOG_FORMAT", ("text", "json"), default="text")
LOG_LEVEL = environment.choice("LOG_LEVEL", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"), default="INFO")
SENTRY_DSN = env.str("SENTRY_DSN", default="")
if SENTRY_DSN:
    from config.telemetry import start_sentry

    start_sentry(SENTRY_DSN)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"context": {"()": "config.logs.ContextFilter"}},
    "formatters": {
        "text": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "config.logs.JsonFormatter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "json" if LOG_FORMAT == "json" else "text",
            "filters": ["context"],
        }
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        # On a laptop the mailbox and the browser tell what happens; a line per request is for a fleet.
        "parley.access": {"level": "INFO" if LOG_FORMAT == "json" else "WARNING"},
        "django.request": {"level": "ERROR"},
    },
}

CSRF_FAILURE_VIEW = "config.errors.form_refused"
SESSION_COOKIE_SECURE = not DEBUG
CSRF_COOKIE_SECURE = not DEBUG
SESSION_COOKIE_AGE = 12 * 3600
X_FRAME_OPTIONS = "DENY"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
SECURE_SSL_REDIRECT = not DEBUG
# Clients of the API and of health checks are told about https by documentation, never by a redirect.
SECURE_REDIRECT_EXEMPT = [r"^api/", r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 0 if DEBUG else 31_536_000
SECURE_HSTS_INCLUDE_SUBDOMAINS = not DEBUG
SECURE_HSTS_PRELOAD = not DEBUG

SILENCED_SYSTEM_CHECKS = [
    # The limiter needs one atomic counter for all processes: that is Redis in the fleet, and the
    # single process of the embedded default counts in its own memory.
    "django_ratelimit.E003",
    "django_ratelimit.W001",
    # These look for Django's own classes by name. Subclasses of them stand in MIDDLEWARE
    # (config.middleware): security headers for all, X-Frame-Options with them, CSRF for the admin.
    "security.W001",
    "security.W002",
    "security.W003",
]
