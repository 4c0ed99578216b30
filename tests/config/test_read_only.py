"""A PostgreSQL that only reads, as a primary does after a fail-over, is answered 503 and left."""

import pytest
from django.db import connection

from realtime.consumers import database
from tests.factories import sign_in
from tests.realtime.conftest import live, open_socket  # noqa: F401  (fixtures)
from tests.server import ON_POSTGRES

pytestmark = pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has no fail-over")


def test_a_write_is_answered_503_and_the_next_request_connects_anew(transactional_db, as_alice):
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    body = as_alice.patch("/api/v1/profile", {"bio": "new"}, 503)
    assert body["error"] == "service_unavailable"
    assert body["retry_after"] >= 1
    assert as_alice.patch("/api/v1/profile", {"bio": "new"}, 200)["profile"]["bio"] == "new"


def test_a_socket_that_could_not_be_opened_can_be_opened_again(open_socket, alice, settings):  # noqa: F811
    settings.REALTIME_DATABASE_THREADS = 1

    def only_read():
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = on")

    database._executor().submit(database._call, only_read).result(10)
    token = sign_in(alice)[1]
    assert open_socket(token, wait=False).closed()[0] == 4503
    assert open_socket(token).ready["user_id"] == alice.id
