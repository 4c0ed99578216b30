"""The system checks of accounts find what they are for, and nothing in the product's own settings."""

import pytest
from django.core import checks

from accounts import checks as own


def check_ids(**kwargs):
    messages = [message for message in checks.run_checks(**kwargs) if message.id.startswith("accounts.")]
    assert all(message.hint for message in messages)
    return [message.id for message in messages]


def test_the_settings_of_the_tests_are_clean():
    assert check_ids() == []


@pytest.mark.parametrize(
    ("setting", "value", "wanted"),
    [
        ("ACCOUNTS_TOKEN_KEYS", "", ["accounts.E001"]),
        ("ACCOUNTS_TOKEN_KEYS", "a:", ["accounts.E001"]),
        ("ACCOUNTS_TOKEN_KEYS", "no kid " * 9, ["accounts.E001"]),
        ("ACCOUNTS_TOKEN_KEYS", f":{'k' * 40}", ["accounts.E001"]),
        ("ACCOUNTS_TOKEN_KEYS", f"a:{'k' * 40},a:{'l' * 40}", ["accounts.E001"]),
        ("ACCOUNTS_RATES", {"login": (5, 60)}, ["accounts.E003"]),
        ("ACCOUNTS_RATES", {"login": ()}, ["accounts.E003"]),
        ("MESSAGING_RATES", {"send": (5, 60)}, ["accounts.E003"]),
        ("ACCOUNTS_RATES", {"send": (5, 60, "allow")}, ["accounts.E006"]),
        ("ACCOUNTS_RATES", {"logon": (5, 60, "allow")}, ["accounts.E006"]),
        ("ACCOUNTS_RATES", {"login": ((5, 60, "explode"),)}, ["accounts.E003"]),
        ("ACCOUNTS_RATES", {"login": ((5, 60, "allow"), (9, 600, "count_in_database"))}, []),
        ("CORE_TRUSTED_PROXIES", -1, ["accounts.E004"]),
    ],
)
def test_what_each_check_finds(settings, setting, value, wanted):
    setattr(settings, setting, value)
    assert check_ids() == wanted


def test_the_token_key_is_no_other_secret(settings):
    settings.ACCOUNTS_TOKEN_KEYS = f"a:{settings.SECRET_KEY}"
    assert check_ids() == ["accounts.E002"]
    settings.ACCOUNTS_TOKEN_KEYS = f"b:{'k' * 40},a:{settings.SECRET_KEY}"
    assert check_ids() == ["accounts.E002"]
    # A part of a token key is another secret.
    settings.ACCOUNTS_TOKEN_KEYS = f"a:{settings.SECRET_KEY}-and-more"
    assert check_ids() == []


def test_what_a_deployment_is_warned_of(db, settings):
    settings.RATELIMIT_ENABLE = True
    assert check_ids(include_deployment_checks=True) == []
    settings.RATELIMIT_ENABLE = False
    assert check_ids(include_deployment_checks=True) == ["accounts.W001"]
    settings.RATELIMIT_ENABLE = True
    settings.AUTH_PASSWORD_VALIDATORS = []
    assert check_ids(include_deployment_checks=True) == ["accounts.W002"]
    assert own.password_validators(None)[0].hint.startswith("Add CommonPasswordValidator, MinimumLengthValidator")
