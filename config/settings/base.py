"""Folders, secrets and hosts."""

from pathlib import Path

from corsheaders.defaults import default_headers
from django.core.exceptions import ImproperlyConfigured

from config import environment
from config.environment import env

BASE_DIR = Path(__file__).resolve().parent.parent.parent
VAR_DIR = Path(env.str("VAR_DIR", default=str(BASE_DIR / "var")))
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
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
CORS_ALLOWED_ORIGINS = env.list("CORS_ALLOWED_ORIGINS", default=[])
CORS_URLS_REGEX = r"^/api/"
CORS_EXPOSE_HEADERS = ["X-Request-Id", "Retry-After", "ETag", "X-Poll-Interval", "Date"]
CORS_ALLOW_HEADERS = [*default_headers, "If-None-Match", "X-Action-Token", "X-Device-Name", "X-Device-Token"]
TRUSTED_PROXIES = environment.number("TRUSTED_PROXIES", default=0, least=0)
