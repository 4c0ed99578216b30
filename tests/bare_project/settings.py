"""A Django project that knows the apps named in BARE_APPS (highest first) and nothing of `config`."""

import os
from datetime import timedelta
from pathlib import Path

APPS = os.environ["BARE_APPS"].split()
FOLDER = Path(os.environ["BARE_FOLDER"])

SECRET_KEY = "s" * 40
ACCOUNTS_TOKEN_KEYS = f"k1:{'k' * 40}"
ALLOWED_HOSTS = ["testserver"]
AUTH_USER_MODEL = "accounts.User"
ROOT_URLCONF = "tests.bare_project.urls"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "db.sqlite3"}}
MEDIA_ROOT = FOLDER / "media"
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"

INSTALLED_APPS = [
    *APPS,
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "rest_framework",
    *(["fcm_django"] if "notifications" in APPS else []),
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
PROCESSORS = ["template.context_processors.request", "contrib.auth.context_processors.auth"]
PROCESSORS += ["contrib.messages.context_processors.messages"]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": [f"django.{name}" for name in PROCESSORS]},
    }
]
FCM_DJANGO_FCMDEVICE_MODEL = "notifications.Device"
MIGRATION_MODULES = {"fcm_django": None}
SIMPLE_JWT = {
    "AUTH_TOKEN_CLASSES": ["accounts.tokens.SessionToken"],
    "ACCESS_TOKEN_LIFETIME": timedelta(days=7),
    "ISSUER": "bare",
    "AUDIENCE": "bare-api",
    "TOKEN_TYPE_CLAIM": "typ",
    "USER_ID_CLAIM": "sub",
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["core.api.renderers.EnvelopeRenderer"],
    "DEFAULT_PARSER_CLASSES": ["core.api.parsers.StrictJSONParser"],
    "DEFAULT_THROTTLE_CLASSES": ["core.api.throttles.DeclaredThrottles"],
    "EXCEPTION_HANDLER": "core.api.errors.envelope",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}
