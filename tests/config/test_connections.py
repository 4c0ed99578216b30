"""How a process is connected to PostgreSQL, by its environment alone."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json
from django.conf import settings
database = settings.DATABASES["default"]
print(json.dumps({"age": database.get("CONN_MAX_AGE", 0), "cursors": database.get("DISABLE_SERVER_SIDE_CURSORS", False)}
                 | {name: database["OPTIONS"].get(name) for name in ("prepare_threshold", "options", "pool")}))
"""


def settings_with(connections, query=""):
    env = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": "postgres://parley@127.0.0.1:5432/parley" + query,
        "DATABASE_CONNECTIONS": connections,
        "DEBUG": "1",
    }
    return subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True)


@pytest.mark.once
def test_behind_a_bouncer_nothing_stays_in_a_session():
    database = json.loads(settings_with("bouncer").stdout)
    assert database == {"age": None, "cursors": True, "prepare_threshold": None, "options": None, "pool": None}


@pytest.mark.once
def test_options_of_the_address_are_kept_and_win():
    query = "?options=-c%20search_path%3Dchat%20-c%20statement_timeout%3D5000"
    options = json.loads(settings_with("plain", query).stdout)["options"]
    assert options.endswith("-c search_path=chat -c statement_timeout=5000")
    assert "-c lock_timeout=3500 " in options
    assert json.loads(settings_with("bouncer", query).stdout)["options"].startswith("-c search_path=chat")


@pytest.mark.once
@pytest.mark.parametrize(
    ("connections", "age", "has_pool"), [("plain", 0, False), ("kept", None, False), ("pool", 0, True)]
)
def test_otherwise_statements_are_prepared_and_limits_travel_along(connections, age, has_pool):
    database = json.loads(settings_with(connections).stdout)
    assert (database["age"], bool(database["pool"])) == (age, has_pool)
    assert database["prepare_threshold"] == 3 and "statement_timeout=10000" in database["options"]
    assert "plan_cache_mode=force_generic_plan" in database["options"]


@pytest.mark.once
def test_another_word_is_refused_with_the_choices():
    done = settings_with("many")
    assert done.returncode != 0
    assert "DATABASE_CONNECTIONS is one of plain, kept, pool, bouncer, not 'many'." in done.stderr
