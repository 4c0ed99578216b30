"""Metrics, logs and security headers."""

from csp.constants import NONCE, NONE, SELF

from config import environment
from config.settings.base import CORE_TRUSTED_PROXIES, DEBUG, SITE_URL, env

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
            "formatter": "json" if LOG_FORMAT == "json" else "text",
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

CSRF_FAILURE_VIEW = "core.errors.form_refused"
# Without https in SITE_URL there is nothing to redirect to: a single machine that was started by hand.
HTTPS = not DEBUG and SITE_URL.startswith("https://")
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 12 * 3600
X_FRAME_OPTIONS = "DENY"
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
