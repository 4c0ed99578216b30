"""Cursors whose statements stay prepared (core.database)."""

import pytest
from django.db import DatabaseError, connection, transaction

from core.database.statements import prepared
from messaging.selectors import messages_for_each
from messaging.services import conversations, messages

pytestmark = pytest.mark.django_db
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite makes an ordinary cursor")


def test_a_statement_in_the_block_of_another_one_does_not_disturb_it():
    with prepared() as outer:
        outer.execute("SELECT 1 UNION ALL SELECT 2 ORDER BY 1")
        assert outer.fetchone() == (1,)
        with prepared() as inner:
            inner.execute("SELECT 3")
            assert inner.fetchone() == (3,)
        assert outer.fetchone() == (2,)


@on_postgresql
def test_statements_after_each_other_share_a_cursor():
    with prepared() as first:
        first.execute("SELECT 1")
    with prepared() as second:
        assert second.cursor is first.cursor


@on_postgresql
def test_a_statement_is_planned_once_for_all_values(alice, bob):
    """Also one that takes arrays: PostgreSQL would plan it for the values of each use."""
    conversation_id = conversations.start(starter=alice, user_id=bob.id)[0].id
    for _ in range(12):
        message, _created = messages.send(sender=alice, conversation_id=conversation_id, body="hello")
        messages_for_each([alice.id, bob.id], [message.id])
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements")
        plans = cursor.fetchall()
    assert len([statement for statement, *_ in plans if "ANY(" in statement]) >= 2
    assert [statement for statement, generic, custom in plans if custom or not generic] == []


def test_a_statement_works_after_one_that_failed():
    with pytest.raises(DatabaseError), transaction.atomic(), prepared() as cursor:
        cursor.execute("SELECT missing")
    with prepared() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
