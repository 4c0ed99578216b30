"""Server keys: made, listed and revoked by commands and on the support pages; every path meets every kind of token."""

import io
import json
import logging
import re

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import AuditEntry, Session
from integrations.models import Scope, ServerKey
from integrations.services import keys
from integrations.viewsets import EventViewSet, IntrospectViewSet, ServerMessageViewSet, ServerUserViewSet
from tests.client import ApiClient
from tests.contract.routes import address, protected_routes, server_routes
from tests.contract.test_token_matrix import INVALID, fresh, outcome, outcomes
from tests.factories import make_user
from tests.integrations.server import PREFIX, make_key, server
from tests.staff import admin_client, staff

KEY = re.compile(r"sk_[a-z0-9]{8}_[A-Za-z0-9_-]{43}")


def run(name, *arguments, **options):
    out = io.StringIO()
    call_command(name, *arguments, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


def made(*arguments):
    return json.loads(run("create_server_key", *arguments, "--json"))


# --- Every path, every kind of token, every scope -----------------------------------------------------

# The scope of each path, as the specification has it.
SCOPES = {
    "POST users": "users:write",
    "GET users": "users:read",
    "GET users/1": "users:read",
    "PATCH users/1": "users:write",
    "DELETE users/1": "users:write",
    "POST users/1/block": "users:write",
    "POST users/1/unblock": "users:write",
    "POST users/1/sign-out": "users:write",
    "POST users/1/sessions": "sessions:create",
    "POST messages": "messages:write",
    "POST introspect": "users:read",
    "GET events": "events:read",
}
PATHS = [f"{method} {address(path)}" for method, path in server_routes()]


def scope_of(name: str) -> str:
    method, _, path = name.partition(" ")
    return SCOPES[f"{method} {path.removeprefix(PREFIX + '/')}"]


def test_the_table_names_every_path():
    assert {f"{method} {address(path).removeprefix(PREFIX + '/')}" for method, path in server_routes()} == set(SCOPES)


@pytest.mark.parametrize("scope", Scope)
def test_a_key_opens_the_paths_of_its_scopes_only(db, scope):
    key = make_key(scope)
    for name in PATHS:
        status, code = outcome(name, f"Bearer {key}")
        if scope_of(name) == scope:
            assert status in (200, 201, 400, 404), (name, status, code)
        else:
            assert (status, code) == (403, "scope_missing"), name
            method, _, path = name.partition(" ")
            assert ApiClient(key).request(method, path, {}, 403)["scope"] == scope_of(name)


@pytest.mark.parametrize("method", ["PUT", "OPTIONS", "DELETE"])
def test_a_method_that_a_path_lacks_is_told_apart_from_a_scope(db, method):
    reply = ApiClient(make_key()).request(method, f"{PREFIX}/users", {}, 405)
    assert reply["error"] == "method_not_allowed"


def revoked(user):
    key = make_key()
    keys.revoke(keys=ServerKey.objects.all(), actor="tests")
    return key


FOREIGN = {
    **INVALID,
    "session token": lambda user: f"Bearer {fresh(user)}",
    "revoked": lambda user: f"Bearer {revoked(user)}",
    "another network": lambda user: f"Bearer {make_key(networks=('10.0.0.0/8', '2001:db8::/32'))}",
    "unknown": lambda user: f"Bearer sk_abcd1234_{'A' * 43}",
    "the prefix of a key": lambda user: f"Bearer {make_key()[:20]}{'A' * 35}",
    "upper case": lambda user: f"Bearer {make_key().upper()}",
    "only its end": lambda user: f"Bearer {make_key()[12:]}",
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_nothing_else_opens_a_path(db, kind):
    assert outcomes(PATHS, FOREIGN[kind](make_user("Alice"))) == dict.fromkeys(PATHS, (401, "server_key_invalid"))


def test_a_key_opens_no_path_of_a_user(db):
    names = [f"{method} {address(path)}" for method, path in protected_routes()]
    assert outcomes(names, f"Bearer {make_key()}") == dict.fromkeys(names, (401, "token_invalid"))


def test_a_key_in_a_browser_is_refused_and_logged_without_the_key(db, caplog):
    key = make_key()
    for name in PATHS:
        method, _, path = name.partition(" ")
        with caplog.at_level(logging.WARNING):
            response = ApiClient(key).raw(method, path, {}, headers={"Origin": "https://app.example.com"})
        assert (response.status_code, response.json()["error"]) == (403, "server_key_in_browser"), name
    assert key[:11] in caplog.text
    assert key[12:] not in caplog.text
    assert not ServerKey.objects.exclude(last_used_at=None).exists()


def test_a_key_of_this_network_is_accepted_behind_a_proxy(db, settings):
    settings.CORE_TRUSTED_PROXIES = 1
    client = server(networks=("10.0.0.0/8", "2001:db8::/32"))
    for address_, status in (("10.1.2.3", 200), ("::ffff:10.1.2.3", 200), ("2001:db8::7", 200), ("11.0.0.1", 401)):
        client.get(f"{PREFIX}/users", status, headers={"X-Forwarded-For": f"10.9.9.9, {address_}"})


def test_the_rate_is_counted_by_key(db, settings):
    settings.RATELIMIT_ENABLE = True
    settings.INTEGRATIONS_RATES = {"server_key": (2, 60, "allow")}
    first, second = server(), server()
    assert [first.raw("GET", f"{PREFIX}/users").status_code for _ in range(3)] == [200, 200, 429]
    second.get(f"{PREFIX}/users")


def test_every_method_declares_scope_and_rate():
    for view in (ServerUserViewSet, ServerMessageViewSet, IntrospectViewSet, EventViewSet):
        handlers = [value for name, value in vars(view).items() if callable(value) and not name.startswith("_")]
        assert handlers
        for handler in handlers:
            assert handler.scope in Scope
            assert [throttle.scope for throttle in handler.throttles] == ["server_key"]


# --- Stored and shown -----------------------------------------------------------------------------------


def test_a_key_is_shown_once_and_stored_as_a_digest(db):
    result = made("backend", "--scopes", "users:read,users:write", "--networks", "10.0.0.0/8")
    assert KEY.fullmatch(result["key"])
    assert result["key"].startswith(f"sk_{result['prefix']}_")
    row = ServerKey.objects.values().get()
    secret = result["key"][12:]
    assert secret not in json.dumps(row, default=str)
    assert secret not in json.dumps(list(AuditEntry.objects.values()), default=str)
    listed = json.loads(run("list_server_keys", "--json"))["keys"]
    assert listed == [
        {
            "name": "backend", "prefix": result["prefix"], "scopes": ["users:read", "users:write"],
            "networks": ["10.0.0.0/8"], "created_at": listed[0]["created_at"], "last_used_at": None, "revoked_at": None,
        }
    ]  # fmt: skip
    assert secret not in run("list_server_keys")
    assert result["prefix"] in run("list_server_keys")


@pytest.mark.parametrize(
    "arguments",
    [
        ("backend",),
        ("backend", "--scopes", ""),
        ("backend", "--scopes", "users:delete"),
        ("backend", "--scopes", "users:read", "--networks", "10.0.0.1/8"),
        ("backend", "--scopes", "users:read", "--networks", "nowhere"),
        ("two words", "--scopes", "users:read"),
        ("", "--scopes", "users:read"),
        ("x" * 61, "--scopes", "users:read"),
    ],
)
def test_a_bad_key_is_not_made(db, arguments):
    with pytest.raises(CommandError) as error:
        run("create_server_key", *arguments)
    assert error.value.returncode == 2 or "required" in str(error.value)
    assert not ServerKey.objects.exists()


def test_a_dry_run_makes_and_revokes_nothing(db):
    assert "key" not in made("backend", "--scopes", "users:read", "--dry-run")
    make_key()
    run("revoke_server_key", "backend", "--dry-run")
    assert ServerKey.objects.live().count() == 1


def test_two_keys_of_one_name_live_at_once_and_end_by_name_or_prefix(db):
    first, second = made("backend", "--scopes", "users:read"), made("backend", "--scopes", "users:read")
    for key in (first, second):
        ApiClient(key["key"]).get(f"{PREFIX}/users")
    assert ServerKey.objects.exclude(last_used_at=None).count() == 2
    run("revoke_server_key", first["prefix"], "--reason", "replaced")
    ApiClient(first["key"]).get(f"{PREFIX}/users", 401)
    ApiClient(second["key"]).get(f"{PREFIX}/users")
    made("backend", "--scopes", "users:read")
    result = json.loads(run("revoke_server_key", "backend", "--json"))
    assert len(result["revoked"]) == 2
    ApiClient(second["key"]).get(f"{PREFIX}/users", 401)
    for gone in ("backend", second["prefix"], "nothing"):
        with pytest.raises(CommandError) as error:
            run("revoke_server_key", gone)
        assert error.value.returncode == 3
    assert json.loads(run("list_server_keys", "--json"))["keys"] == []
    assert len(json.loads(run("list_server_keys", "--json", "--all"))["keys"]) == 3
    assert AuditEntry.objects.filter(action="server_key.revoked", reason="replaced").count() == 1


@pytest.mark.parametrize("end_sessions", [False, True])
def test_sessions_of_a_revoked_key_go_on_unless_they_are_to_end(db, alice, end_sessions):
    one, other = server(), server(name="other")
    mine = one.post(f"{PREFIX}/users/{alice.id}/sessions", {}, 201)["token"]
    theirs = other.post(f"{PREFIX}/users/{alice.id}/sessions", {}, 201)["token"]
    own = fresh(alice)
    result = json.loads(run("revoke_server_key", "backend", "--json", *(["--sessions"] if end_sessions else [])))
    assert result["sessions_ended"] == int(end_sessions)
    ApiClient(mine).get("/api/v1/auth/me", 401 if end_sessions else 200)
    for token in (theirs, own):
        ApiClient(token).get("/api/v1/auth/me")


def test_the_support_pages_show_and_revoke_keys_to_superusers_only(db, alice):
    client = server()
    client.post(f"{PREFIX}/users/{alice.id}/sessions", {}, 201)
    row = ServerKey.objects.get()
    path = "/admin/integrations/serverkey/"
    auditor = admin_client(staff("Auditor"))
    assert auditor.get(path).status_code == 403
    assert auditor.get(f"{path}{row.id}/change/").status_code == 403
    root = admin_client(staff(is_superuser=True))
    page = root.get(path).content.decode()
    assert row.prefix in page
    assert row.digest not in page + root.get(f"{path}{row.id}/change/").content.decode()
    assert client.token[12:] not in page
    form = {"action": "revoke", "_selected_action": [row.id], "confirmed": "1", "reason": "leaked"}
    root.post(path, form)
    assert ServerKey.objects.get().revoked_at is not None
    client.get(f"{PREFIX}/users", 401)
    entry = AuditEntry.objects.get(action="server_key.revoked")
    assert (entry.reason, entry.actor_id is not None) == ("leaked", True)
    assert Session.objects.not_ended().filter(user=alice).exists()


def test_the_last_use_is_stored_now_and_then(db, clock):
    client = server()
    client.get(f"{PREFIX}/users")
    first = ServerKey.objects.get().last_used_at
    clock.forward(minutes=2)
    client.get(f"{PREFIX}/users")
    assert ServerKey.objects.get().last_used_at == first
    clock.forward(minutes=4)
    client.get(f"{PREFIX}/users")
    assert ServerKey.objects.get().last_used_at > first
    assert first <= timezone.now()
