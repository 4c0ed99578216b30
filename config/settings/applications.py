"""Applications and middleware, the REST framework, logs, and security headers."""

import sys
from typing import Any

from csp.constants import NONCE, NONE, SELF

from config import environment
from config.settings.base import BASE_DIR, CORE_TRUSTED_PROXIES, DEBUG, SITE_URL, env

INSTALLED_APPS = [
    # Only `runserver` needs it; anywhere else it would load Twisted for nothing.
    *(["daphne"] if sys.argv[1:2] == ["runserver"] else []),
    "config",
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
    "rest_framework",
    "drf_spectacular",
    "corsheaders",
    "csp",
    "channels",
]

# Cookies, sessions and CSRF belong to the admin alone: the API carries a bearer token.
MIDDLEWARE = [
    "config.middleware.RequestContextMiddleware",
    "config.middleware.AccessLogMiddleware",
    "config.middleware.ContentPolicyMiddleware",
    "config.middleware.SecurityHeadersMiddleware",
    "config.static_files.StaticFilesMiddleware",
    "config.middleware.CrossOriginMiddleware",
    "config.middleware.LanguageMiddleware",
    "config.middleware.AdminSessionMiddleware",
    "config.middleware.AdminCsrfMiddleware",
    "config.middleware.AdminAuthenticationMiddleware",
    "config.middleware.AdminSecondFactorMiddleware",
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

# --- The API --------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["core.renderers.EnvelopeRenderer"],
    "DEFAULT_PARSER_CLASSES": ["core.parsers.StrictJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "core.renderers.ContentNegotiation",
    "DEFAULT_THROTTLE_CLASSES": ["core.throttles.DeclaredThrottles"],
    "DEFAULT_SCHEMA_CLASS": "config.openapi.schema.EnvelopeSchema",
    "EXCEPTION_HANDLER": "core.errors.envelope",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Parley",
    "DESCRIPTION": "Accounts, one-to-one messaging, calls and notifications behind one API.",
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.0",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "MessageKind": "messaging.models.Message.Kind",
        "CallMedia": "realtime.models.Call.Media",
        "CallState": "realtime.models.Call.State",
        "CallOutcome": "realtime.models.Call.Outcome",
        "CallDeclineReason": ["declined", "busy"],
        "WhoCanMessage": "accounts.models.User.WhoCanMessage",
        "IceTransportPolicy": ["all", "relay"],
        "EventAction": "notifications.kinds.ACTIONS",
        "EventType": "notifications.kinds.EVENT_KINDS",
        "NotificationType": "notifications.kinds.choices",
        "NotificationTargetType": ["post", "user", "conversation"],
    },
    "SERVERS": [{"url": "/", "description": "This server"}],
    "CONTACT": {"name": "Parley support"},
    "LICENSE": {"name": "All rights reserved", "identifier": "LicenseRef-All-Rights-Reserved"},
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "config.openapi.hooks.complete"],
}

# The pages under /docs and /api/docs. The schemas stay, for generated clients.
DOCS = environment.switch("DOCS", default=True)

# --- Metrics and logs ------------------------------------------------------------------------

METRICS_TOKEN = environment.header("METRICS_TOKEN")
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
        "text": {"()": "config.logs.TextFormatter", "format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "config.logs.JsonFormatter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["context"],
        }
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        # One log line per request is for production; in development it would only hide other lines.
        "parley.access": {"level": "INFO" if LOG_FORMAT == "json" else "WARNING"},
        "django.request": {"level": "ERROR"},
    },
}

# --- Security headers ------------------------------------------------------------------------

CSRF_FAILURE_VIEW = "core.errors.form_refused"
# Without https in SITE_URL there is nothing to redirect to: a single machine that was started by hand.
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
# The API and health checks never redirect to https; the documentation names the address. Development pages are not there.
SECURE_REDIRECT_EXEMPT = [r"^api/", r"^healthz$", r"^readyz$", r"^metrics$", r"^dev/"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS

SILENCED_SYSTEM_CHECKS = [
    # The limiter needs one atomic counter for all processes: that is Redis in the fleet, and the
    # single process of the embedded default counts in its own memory.
    "django_ratelimit.E003",
    "django_ratelimit.W001",
    # These look for Django's own classes by name. MIDDLEWARE has subclasses of them
    # (config.middleware): security headers for all, X-Frame-Options with them, CSRF for the admin.
    "security.W001",
    "security.W002",
    "security.W003",
]
