"""Migrations that change tables by hand: back and forward again, on both databases."""

import importlib

import pytest
from django.db import IntegrityError, connection
from django.db.migrations.executor import MigrationExecutor

from accounts.models import User
from tests.factories import make_user


def indexes_of_the_address():
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, User._meta.db_table)
    return [name for name, part in found.items() if part["columns"] == ["email"] and part["unique"]]


@pytest.mark.django_db(transaction=True)
def test_the_address_is_unique_before_and_after_it_is_no_key():
    ann, bob = make_user("Ann"), make_user("Bob")
    for target in ("0002_search_order", "0003_address_is_no_key"):
        MigrationExecutor(connection).migrate([("accounts", target)])
        assert len(indexes_of_the_address()) == 1
        with pytest.raises(IntegrityError):
            User.objects.filter(id=bob.id).update(email=ann.email)


@pytest.mark.django_db(transaction=True)
def test_the_index_of_the_address_is_built_again_after_an_interruption():
    """The statements ran, and the process was stopped before the migration was recorded."""
    migration = importlib.import_module("accounts.migrations.0003_address_is_no_key")
    for step in (migration.make_partial, migration.make_plain, migration.make_plain, migration.make_partial):
        with connection.schema_editor(atomic=False) as editor:
            step(None, editor)
        assert len(indexes_of_the_address()) == 1
