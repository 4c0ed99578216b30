"""A PostgreSQL that only reads, as a primary does after a fail-over, is answered 503 and left."""

import pytest
from django.db import connection

from tests.server import ON_POSTGRES

pytestmark = pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has no fail-over")


def test_a_write_is_answered_503_and_the_next_request_connects_anew(transactional_db, as_alice):
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    body = as_alice.patch("/api/v1/profile", {"bio": "new"}, 503)
    assert body["error"] == "service_unavailable"
    assert body["retry_after"] >= 1
    assert as_alice.patch("/api/v1/profile", {"bio": "new"}, 200)["profile"]["bio"] == "new"
