"""The Origin check of a handshake: native apps send no Origin; a browser's must be an allowed one.

Channels' own validator refuses native apps and fails with a 500 on an Origin that cannot be parsed.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host

from core.conf import project


def is_allowed_origin(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """No Origin, one in a list of trusted sites, or one with a host that this server serves."""
    origins = [value for name, value in headers if name.lower() == b"origin"]
    if not origins:
        return True
    if len(origins) > 1:
        return False
    try:
        origin = origins[0].decode("ascii").lower()
        parts = urlsplit(origin)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    # An origin is scheme, host and port; "null", paths and user names are invalid.
    if parts.scheme not in ("http", "https") or not host or "@" in origin:
        return False
    if origin != f"{parts.scheme}://{parts.netloc}":
        return False
    return _is_listed(origin) or validate_host(f"[{host}]" if ":" in host else host, _own_hosts())


def _is_listed(origin: str) -> bool:
    for site in (*project.CORS_ALLOWED_ORIGINS, *settings.CSRF_TRUSTED_ORIGINS):
        site = site.lower().rstrip("/")
        scheme, wildcard, domain = site.partition("://*")
        if origin == site or (wildcard and origin.startswith(f"{scheme}://") and origin.endswith(domain)):
            return True
    return False


def _own_hosts() -> list[str]:
    if settings.ALLOWED_HOSTS or not settings.DEBUG:
        return list(settings.ALLOWED_HOSTS)
    return [".localhost", "127.0.0.1", "[::1]"]
