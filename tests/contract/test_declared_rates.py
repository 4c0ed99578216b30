"""Every route that writes has a rate, declared and enforced; a new one without a rate fails here."""

from collections.abc import Iterator

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver

from core.api import ratelimits
from core.api.throttles import WRITES, throttles_of
from realtime.socket_commands import COMMANDS
from tests.accounts.steps import enable_two_step, send_second_step
from tests.client import ApiClient
from tests.factories import PASSWORD, make_user, sign_in
from tests.integrations.server import server
from tests.staff import admin_client, staff

WRITING = ("POST", "PUT", "PATCH", "DELETE")
# Views without a session token; an undeclared rate would be counted by network there, which is a choice to make.
WITHOUT_SESSION = {
    "auth/signup", "auth/verify", "auth/resend-otp", "auth/login", "auth/forgot-password", "auth/verify-reset",
    "auth/two-step", "auth/resend-two-step", "auth/two-step/forgot", "auth/refresh", "auth/change-email/undo",
    "notifications/events",
}  # fmt: skip


def walk(before: str, patterns: list[URLPattern | URLResolver]) -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from walk(path, pattern.url_patterns)
        else:
            yield path, pattern


def all_views() -> list[tuple[str, URLPattern]]:
    return list(walk("", get_resolver().url_patterns))


def api_writes() -> list[tuple[str, str, object]]:
    """(method, path, the method of the view) of every write of a DRF view."""
    rows = []
    for path, pattern in all_views():
        view = getattr(pattern.callback, "cls", None)
        if view is None:
            continue
        actions = getattr(pattern.callback, "actions", None) or {
            method.lower(): method.lower() for method in WRITING if hasattr(view, method.lower())
        }
        rows += [
            (method.upper(), path, getattr(view, action))
            for method, action in actions.items()
            if method.upper() in WRITING
        ]
    return rows


def test_every_write_of_the_api_declares_a_rate():
    writes = api_writes()
    assert len(writes) > 50
    for method, path, handler in writes:
        declared = throttles_of(handler, method)
        assert declared, f"{method} {path} has no rate"
        for throttle in declared:
            assert ratelimits.rates_of(throttle.scope)
        if path.removeprefix("api/v1/") in WITHOUT_SESSION or path.startswith("api/v1/server/"):
            assert WRITES not in declared, f"{method} {path} has no session: declare whom its rate counts"


# Commands of the socket, and the operation of the API that does the same.
SAME = {
    "message.send": ("POST", "messages/conversations/<str:conversation_id>/messages"),
    "message.edit": ("PATCH", "messages/messages/<str:message_id>"),
    "message.delete": ("DELETE", "messages/messages/<str:message_id>"),
    "message.react": ("POST", "messages/messages/<str:message_id>/reactions"),
    "message.unreact": ("DELETE", "messages/messages/<str:message_id>/reactions"),
    "conversation.read": ("POST", "messages/conversations/<str:conversation_id>/read"),
    "call.decline": ("POST", "calls/<str:call_id>/decline"),
}
# What only a socket can do; the service counts invitations, and the socket all of its commands.
SOCKET_ONLY = {
    "typing", "presence.watch", "call.invite", "call.ringing", "call.accept", "call.cancel", "call.signal",
    "call.connected", "call.hangup",
}  # fmt: skip


def test_a_command_has_the_rate_of_the_same_operation():
    assert {*SAME, *SOCKET_ONLY} == set(COMMANDS)
    handlers = {(method, path.removeprefix("api/v1/")): handler for method, path, handler in api_writes()}
    for name, operation in SAME.items():
        [throttle] = throttles_of(handlers[operation], operation[0])
        assert COMMANDS[name].rate == throttle.scope, name


@pytest.fixture
def one_use(settings, transactional_db):
    """Every scope allows one use an hour."""
    cache.clear()
    settings.RATELIMIT_ENABLE = True
    for prefix in ("CORE", "ACCOUNTS", "MESSAGING", "NOTIFICATIONS", "REALTIME", "INTEGRATIONS"):
        setattr(settings, f"{prefix}_RATES", dict.fromkeys(ratelimits.scopes(prefix), (1, 3600, "allow")))
    yield settings
    cache.clear()


BODY = {"email": "someone@example.com", "password": "wrong password", "code": "000000"}


def test_every_write_of_the_api_is_refused_beyond_its_rate(one_use):
    alice = make_user("Alice")
    one_use.RATELIMIT_ENABLE = False
    enable_two_step(ApiClient(sign_in(alice)[1]), alice)
    for method, path, handler in api_writes():
        cache.clear()
        one_use.RATELIMIT_ENABLE = False
        if path.startswith("api/v1/server/"):
            key = server().token
            clients = [ApiClient(key), ApiClient(key)]
        elif path.removeprefix("api/v1/") in ("auth/two-step", "auth/resend-two-step", "auth/two-step/forgot"):
            clients = [send_second_step(alice), send_second_step(alice)]
        else:
            # Two sessions, for what ends one; a rate per session is counted by the same one.
            by_session = any(throttle.scope in ("sign_out", "refresh") for throttle in throttles_of(handler, method))
            token = sign_in(alice)[1]
            clients = [ApiClient(token), ApiClient(token if by_session else sign_in(alice)[1])]
        one_use.RATELIMIT_ENABLE = True
        if path.endswith("auth/logout"):
            clients[0].raw("DELETE", "/api/v1/auth/sessions/1")  # the same scope, and the session goes on
        address = "/" + "/".join("1" if part.startswith("<") else part for part in path.split("/"))
        first, second = (client.raw(method, address, BODY) for client in clients)
        if not path.endswith("auth/logout"):
            assert first.status_code != 429, (method, path, first.content)
        body = second.json()
        assert (second.status_code, body["error"]) == (429, "rate_limited"), (method, path, body)
        assert second["Retry-After"] == str(body["retry_after"])


def test_pages_write_nothing_or_declare_a_rate(db):
    """Outside of the API and the support pages only the page behind an undo link takes a form."""
    client, declaring = Client(raise_request_exception=False), []
    for path, pattern in all_views():
        if hasattr(pattern.callback, "cls") or path.startswith("admin/"):
            continue
        if getattr(pattern.callback, "throttles", ()):
            declaring.append(path)
            continue
        address = "/" + "/".join("x" if part.startswith("<") else part for part in path.split("/"))
        for method in WRITING:
            with CaptureQueriesContext(connection) as captured:
                answer = client.generic(method, address, b"{}", content_type="application/json")
            assert answer.status_code < 500, (method, path)
            changes = [query["sql"] for query in captured if query["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
            assert not changes, (method, path, changes)
    assert declaring == ["email-undo/<str:token>"]


def test_every_support_page_refuses_writes_beyond_the_rate(one_use):
    one_use.RATELIMIT_ENABLE = False
    client = admin_client(staff(is_superuser=True))
    one_use.RATELIMIT_ENABLE = True
    # They sign in (a test of its own below), sign out (which ends this session), or are nowhere.
    apart = ("admin/login/", "admin/logout/", "admin/password_change/")
    pages = [path for path, _ in all_views() if path.startswith("admin/") and not path.startswith(apart)]
    assert len(pages) > 60
    for path in pages:
        cache.clear()
        address = "/" + "/".join("1" if "<" in part else part for part in path.split("/"))
        if "(?P<" in path:
            address = "/admin/no/such/page"
        first, second = (client.post(address, {"action": "nothing"}) for _ in range(2))
        assert first.status_code != 429, path
        assert second.status_code == 429, (path, second.status_code)
        assert 1 <= int(second["Retry-After"]) <= 3600
        assert b"Too many requests" in second.content
    assert client.get("/admin/").status_code == 200


@time_machine.travel("2026-11-20T12:00:01Z", tick=False)  # so that no new minute begins between the attempts
def test_admin_sign_in_shares_the_rates_of_the_api(settings, db):
    cache.clear()
    settings.RATELIMIT_ENABLE = True
    user = staff(is_superuser=True)
    answers = []
    for number in range(7):
        if number % 2:
            answers.append(ApiClient().raw("POST", "/api/v1/auth/login", {"email": user.email, "password": PASSWORD}))
        else:
            answers.append(Client().post("/admin/login/", {"username": user.email.upper(), "password": "wrong"}))
    assert [answer.status_code == 429 for answer in answers] == [False] * 5 + [True] * 2
    assert 1 <= int(answers[6]["Retry-After"]) <= 60
    assert b"Too many requests" in answers[6].content
    # Thirty a minute from one network, whatever the address.
    for number in range(30):
        last = Client().post("/admin/login/", {"username": f"u{number}@example.com", "password": "wrong"})
    assert last.status_code == 429
    cache.clear()
