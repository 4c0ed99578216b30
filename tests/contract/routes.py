"""Every route of the API, read from the URL configuration, so that no matrix misses a new one."""

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

PREFIX = "api/v1/"
SERVER = "server/"
# They take no session token: they lead to one, carry another proof, or are open to all.
OPEN = {
    "auth/signup", "auth/verify", "auth/resend-otp", "auth/login", "auth/forgot-password", "auth/verify-reset",
    "auth/two-step", "auth/resend-two-step", "auth/two-step/forgot",
    "auth/change-email/undo",
    "media/<str:token>", "media/<str:token>/thumb", "notifications/events",
    "schema", "realtime/schema",
}  # fmt: skip


def all_routes() -> list[tuple[str, str]]:
    """(method, path below /api/v1/) of every route, with the placeholders in it."""
    return sorted(_walk("", get_resolver().url_patterns))


def protected_routes() -> list[tuple[str, str]]:
    """Those that want a session token."""
    return [(method, path) for method, path in all_routes() if path not in OPEN and not path.startswith(SERVER)]


def server_routes() -> list[tuple[str, str]]:
    """Those that want a server key."""
    return [(method, path) for method, path in all_routes() if path.startswith(SERVER)]


def address(path: str, value: str = "1") -> str:
    """The path as a client would ask for it, with `value` in its places."""
    parts = [value if part.startswith("<") else part for part in path.split("/")]
    return "/api/v1/" + "/".join(parts)


def _walk(before: str, patterns: list[URLPattern | URLResolver]) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(path, pattern.url_patterns)
        elif path.startswith(PREFIX):
            methods = getattr(pattern.callback, "actions", None) or ("get",)
            for method in {*methods} - {"head"}:  # DRF adds it to the views that have answered
                yield method.upper(), path.removeprefix(PREFIX)
