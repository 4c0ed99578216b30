"""Static files under names with a hash of their content, served from their source folders.

A page names `/static/app/main.1a2b3c4d.js`; browsers keep that for a year. No build step and no
`collectstatic`: the hash is computed when a page first names the file, and again when the file changes.
JavaScript modules import one another by plain relative paths; the import map of the page
(portal.client.modules) maps each to its hashed name.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import os
import re
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.exceptions import SuspiciousFileOperation
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware

# As long as those of usual bundlers: each module of the first page costs these characters.
HASH_LENGTH = 8
HASHED = re.compile(rf"(?P<stem>.+)\.(?P<hash>[0-9a-f]{{{HASH_LENGTH}}})(?P<extension>\.\w+)")
CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".ts": "text/plain; charset=utf-8",
}
# A quality of 0 means that the client does not take it.
ACCEPTS_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)
# Comment lines, a seventh of our modules, are removed from files in this folder. Files of other projects, there (.mjs)
# and elsewhere, are sent unchanged.
OWN_MODULES = settings.BASE_DIR / "static"
COMMENT_LINES = re.compile(rb"^[ \t]*(?://.*|/\*\*(?:(?!\*/)[\s\S])*\*/[ \t]*)\n", re.MULTILINE)
FOREVER = "max-age=31536000, public, immutable"


def find(name: str) -> str | None:
    try:
        path = finders.find(name)
    except (SuspiciousFileOperation, ValueError):
        return None  # "..", a NUL
    return path if isinstance(path, str) and Path(path).is_file() else None


def digest(path: str) -> str:
    status = os.stat(path)
    return _digest(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4096)
def _digest(path: str, _changed: int, _size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:HASH_LENGTH]


@lru_cache(maxsize=256)
def _compressed(path: str, _digest: str) -> bytes:
    content = Path(path).read_bytes()
    if path.endswith(".js") and Path(path).is_relative_to(OWN_MODULES):
        content = COMMENT_LINES.sub(b"", content)
    return gzip.compress(content, mtime=0)


class HashedStaticFilesStorage(StaticFilesStorage):
    """`{% static %}` with the hash in the name."""

    def url(self, name: str | None) -> str:
        path = find(name or "")
        if path is None:
            return super().url(name)
        stem, extension = os.path.splitext(name or "")
        return super().url(f"{stem}.{digest(path)}{extension}")


class StaticFilesMiddleware(WhiteNoiseMiddleware):
    """Answers hashed names; WhiteNoise answers plain ones."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(settings.STATIC_URL) and request.method in {"GET", "HEAD"}:
            match = HASHED.fullmatch(request.path_info.removeprefix(settings.STATIC_URL))
            path = find(match["stem"] + match["extension"]) if match else None
            if match and path:
                return hashed_file(request, path=path, requested=match["hash"])
        response: HttpResponseBase = super().__call__(request)
        return response


def hashed_file(request: HttpRequest, *, path: str, requested: str) -> HttpResponse:
    current = digest(path)
    # A page from before an upgrade requests an older hash. It gets the current file, which must not be cached.
    headers = {"Cache-Control": FOREVER if requested == current else "no-cache", "Access-Control-Allow-Origin": "*"}
    extension = os.path.splitext(path)[1]
    content_type = CONTENT_TYPES.get(extension)
    if content_type and ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", "")):
        body = _compressed(path, current)
        headers |= {"Content-Encoding": "gzip"}
    else:
        body = Path(path).read_bytes()
    content_type = content_type or mimetypes.guess_type(path)[0] or "application/octet-stream"
    return HttpResponse(body, content_type=content_type, headers=headers | {"Vary": "Accept-Encoding"})
