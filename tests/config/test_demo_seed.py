"""`serve --seed`: known passwords for the tests of an app, and only there."""

import pytest
from django.core.management import CommandError, call_command

from config import demo
from tests.client import ApiClient


def test_a_seed_gives_the_same_passwords_every_time(db, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    first = demo.ensure(note=str, seed=7)
    assert demo.ensure(note=str, seed=7) == first
    assert [login.password for login in demo.ensure(note=str, seed=8)] != [login.password for login in first]
    again = demo.ensure(note=str, seed=7)
    assert [login.password for login in again] == [login.password for login in first]
    login = {"email": again[0].email, "password": again[0].password}
    assert ApiClient().post("/api/v1/auth/login", login)["user"]["first_name"] == "Alice"


@pytest.mark.parametrize(("debug", "host"), [(False, "127.0.0.1"), (True, "0.0.0.0")])
def test_a_seed_is_for_the_developers_machine_alone(settings, debug, host):
    settings.DEBUG = debug
    with pytest.raises(CommandError, match="only with DEBUG=1"):
        call_command("serve", "--seed", "7", "--host", host)
