"""Accounts, notifications, mail, calls, languages."""

from pathlib import Path

from django.utils.translation import gettext_lazy as _

from config import environment
from config.settings.base import BASE_DIR, EMBEDDED, REDIS_URL, VAR_DIR, env
from notifications.conf import PUSH_PROVIDERS

PRODUCT_NAME = "Parley"

# --- Accounts -------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
# kid:secret pairs, newest first: the first signs, all verify.
ACCOUNTS_TOKEN_KEYS = environment.secret("TOKEN_KEYS", kept_in=VAR_DIR, prefix="dev:")
ACCOUNTS_TOKEN_KEYS_FILE = None if environment.text("TOKEN_KEYS") else environment.kept_path("TOKEN_KEYS", VAR_DIR)
# Without Redis, only the single process of the embedded default may count in its own memory.
CORE_COUNTER_IS_SHARED = bool(REDIS_URL) or EMBEDDED
PASSWORD_HASHERS = ["accounts.hashers.BoundedArgon2Hasher", "django.contrib.auth.hashers.PBKDF2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 8}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("first_name", "last_name", "username", "email")},
    },
]
RATELIMIT_ENABLE = environment.switch("RATELIMIT_ENABLE", default=True)

# --- Notifications --------------------------------------------------------------------------

NOTIFICATIONS_PUSH_BACKEND = environment.choice("PUSH_BACKEND", PUSH_PROVIDERS, default="outbox")
NOTIFICATIONS_FCM_CREDENTIALS = env.str("PUSH_FCM_CREDENTIALS", default="")
NOTIFICATIONS_FCM_ENDPOINT = env.str("PUSH_FCM_ENDPOINT", default="")
# Where fcm-django's own tools find devices, if they are installed.
FCM_DJANGO_FCMDEVICE_MODEL = "notifications.Device"
NOTIFICATIONS_EVENT_SOURCES = env.str("EVENT_SOURCES", default="")
NOTIFICATIONS_PUSH_OUTBOX = VAR_DIR / "push"

# --- Mail: Django's send_mail writes to the queue, the worker uses this transport ---------------

EMAIL_BACKEND = "notifications.services.delivery.mail.QueueingEmailBackend"
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="Parley <no-reply@parley.localhost>")
EMAIL_TIMEOUT = 10
_mailbox = (VAR_DIR / "mail").absolute()
NOTIFICATIONS_MAIL_TRANSPORT = environment.mail("EMAIL_URL", default=_mailbox.as_uri(), timeout=EMAIL_TIMEOUT)
# The folder that `/dev/mail/` shows.
MAILBOX_DIR = Path(NOTIFICATIONS_MAIL_TRANSPORT["OPTIONS"].get("file_path", _mailbox))

# --- Calls ----------------------------------------------------------------------------------

REALTIME_CALL_RING_SECONDS = environment.number("CALL_RING_SECONDS", default=60, least=1, most=3600)
REALTIME_CALL_CONNECT_SECONDS = environment.number("CALL_CONNECT_SECONDS", default=30, least=1, most=3600)
REALTIME_CALL_LOST_SECONDS = environment.number("CALL_LOST_SECONDS", default=60, least=1, most=3600)
REALTIME_TURN_URLS = environment.items("TURN_URLS")
REALTIME_TURN_SECRET = env.str("TURN_SECRET", default="")
REALTIME_STUN_URLS = environment.items("STUN_URLS")

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
# Times with year first and zone, for the support pages.
FORMAT_MODULE_PATH = ["config.formats"]
