"""Cursors whose statements stay prepared (core.database)."""

import pytest
from django.db import DatabaseError, connection, transaction

from core.database import prepared

pytestmark = pytest.mark.django_db


def test_a_statement_in_the_block_of_another_one_does_not_disturb_it():
    with prepared() as outer:
        outer.execute("SELECT 1 UNION ALL SELECT 2 ORDER BY 1")
        assert outer.fetchone() == (1,)
        with prepared() as inner:
            inner.execute("SELECT 3")
            assert inner.fetchone() == (3,)
        assert outer.fetchone() == (2,)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite makes an ordinary cursor")
def test_statements_after_each_other_share_a_cursor():
    with prepared() as first:
        first.execute("SELECT 1")
    with prepared() as second:
        assert second.cursor is first.cursor


def test_a_statement_works_after_one_that_failed():
    with pytest.raises(DatabaseError), transaction.atomic(), prepared() as cursor:
        cursor.execute("SELECT missing")
    with prepared() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
