"""Applications, middleware and the REST framework."""

import sys
from typing import Any

from config import environment
from config.settings.base import BASE_DIR

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
    "DEFAULT_SCHEMA_CLASS": "config.openapi.views.EnvelopeSchema",
    "EXCEPTION_HANDLER": "core.errors.envelope",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
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
