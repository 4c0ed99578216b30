"""Which pages may use the API from a browser, the same for REST (CORS) and for sockets.

An origin is scheme, host and port. Apps in a web view have a scheme of their own: `capacitor://localhost`.
"""

import re
from functools import lru_cache

import idna
from django.conf import settings
from django.http.request import validate_host

from core.conf import project

DEFAULT_PORTS = {"http": 80, "https": 443}
# No list may hold these origins: all files, or all opaque documents, share them.
_SHARED_SCHEMES = {"about", "blob", "data", "file", "javascript", "null"}
_ORIGIN = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<wildcard>\*\.)?(?P<host>\[[0-9a-f:.]+\]|[^\s/\\?#@:\[\]*,]+)(:(?P<port>[0-9]{1,5}))?/?",
    re.IGNORECASE,
)
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")


# One rule for requests and sockets: docs/decisions/serving.md#0103
@lru_cache(maxsize=256)
def canonical(text: str) -> str | None:
    """An origin as browsers write it: in lower case, the host in ASCII, without a default port and a slash at the end.
    `https://*.example.org` stands for all hosts below that one. None for any other text.
    """
    match = _ORIGIN.fullmatch(text)
    if match is None:
        return None
    scheme, host, port = match["scheme"].lower(), match["host"].lower(), match["port"]
    if not host.startswith("["):
        try:
            host = host if host.isascii() else idna.encode(host, uts46=True).decode()
        except idna.IDNAError:
            return None
        if not _HOST.fullmatch(host):
            return None
    number = int(port) if port else DEFAULT_PORTS.get(scheme)
    if scheme in _SHARED_SCHEMES or number == 0 or (number or 0) > 65_535:
        return None
    written = "" if number in (None, DEFAULT_PORTS.get(scheme)) else f":{number}"
    return f"{scheme}://{match['wildcard'] or ''}{host}{written}"


def is_allowed(header: str) -> bool:
    """Whether the origin of a request is in a list of trusted sites, or has a host that this server serves."""
    # Browsers write a host in ASCII.
    origin = canonical(header) if header.isascii() and "*" not in header else None
    if origin is None:
        return False
    return _is_listed(origin) or _is_own(origin)


def _is_listed(origin: str) -> bool:
    for site in map(canonical, (*project.CORS_ALLOWED_ORIGINS, *settings.CSRF_TRUSTED_ORIGINS)):
        if site is None:
            continue
        scheme, wildcard, domain = site.partition("://*")
        if origin == site or (wildcard and origin.startswith(f"{scheme}://") and origin.endswith(domain)):
            return True
    return False


def _is_own(origin: str) -> bool:
    scheme, _, rest = origin.partition("://")
    host = re.sub(r":[0-9]+$", "", rest)
    return scheme in DEFAULT_PORTS and validate_host(host, _own_hosts())


def _own_hosts() -> list[str]:
    if settings.ALLOWED_HOSTS or not settings.DEBUG:
        return list(settings.ALLOWED_HOSTS)
    return [".localhost", "127.0.0.1", "[::1]"]
