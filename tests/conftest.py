"""The users of every test: Alice and Bob have a conversation, Charlie has none with them."""

import os

import pytest
from django.db import connection

from tests import migrated, second_try
from tests.client import ApiClient
from tests.clock import Clock
from tests.factories import make_user, sign_in
from tests.flush.management.commands.flush import remember_rows
from tests.second_try import pytest_sessionfinish, pytest_terminal_summary  # noqa: F401  (hooks)
from tests.server import ON_POSTGRES


def pytest_collection_modifyitems(config, items):
    """What does not touch the database under test runs once: not on PostgreSQL, unless `PART` asks for it.

    `PART` splits the tests for runs side by side: "each" has those for every database, "browser", "firefox" and "once"
    the others, "fleet" those that have a PostgreSQL and a Redis of their own.
    """
    for item in items:
        for name in markers_of(item):
            item.add_marker(name)
    parts = {os.environ["PART"]} if os.environ.get("PART") else {"each", "fleet"} if ON_POSTGRES else set()
    if parts:
        config.hook.pytest_deselected(items=[item for item in items if part_of(item) not in parts])
        items[:] = [item for item in items if part_of(item) in parts]
    second_try.mark(items)


# Folders whose tests start servers or browsers, and fixtures that start one.
SERVER_FOLDERS = {"fleet", "faults", "flows", "sdk"}
SERVER_FIXTURES = {"server", "live_server", "deployment", "requests", "relay"}


def markers_of(item):
    folder = item.path.parent.name
    if folder == "browser":
        yield "browser"
    elif folder in SERVER_FOLDERS or SERVER_FIXTURES & set(item.fixturenames):
        yield "server"


def part_of(item):
    folder = item.path.parent.name
    if not item.get_closest_marker("once"):
        return "fleet" if folder == "fleet" else "each"
    if folder != "browser":
        return "once"
    return "firefox" if item.path.name.startswith("test_firefox_") else "browser"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """Closes connections of threads that still run, so that the database can be removed."""
    with django_db_blocker.unblock():
        remember_rows()
    if os.environ.get("REUSE_DATABASE") and not ON_POSTGRES and not migrated.TEMPLATE.exists():
        migrated.keep(connection.settings_dict["NAME"])
    yield
    if ON_POSTGRES:
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture
def alice(db):
    return make_user("Alice", last_name="Archer")


@pytest.fixture
def bob(db):
    return make_user("Bob", last_name="Baker")


@pytest.fixture
def charlie(db):
    return make_user("Charlie", last_name="Cooper")


@pytest.fixture
def as_alice(alice):
    return ApiClient(sign_in(alice)[1])


@pytest.fixture
def as_bob(bob):
    return ApiClient(sign_in(bob)[1])


@pytest.fixture
def as_charlie(charlie):
    return ApiClient(sign_in(charlie)[1])


@pytest.fixture
def anonymous(db):
    return ApiClient()


@pytest.fixture
def clock(monkeypatch):
    """The clock of the product and of its tokens, moved by hand."""
    moved = Clock()
    monkeypatch.setattr("django.utils.timezone.now", moved.now)
    monkeypatch.setattr("rest_framework_simplejwt.tokens.aware_utcnow", moved.now)
    monkeypatch.setattr("jwt.api_jwt.datetime", moved.as_datetime())
    return moved
