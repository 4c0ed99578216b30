"""What a send costs the database: statements and index entries, not time."""

import pytest
from django.db import connection

from benchmarks.writes import HOT_TABLES, index_entries, written
from messaging.services import messages
from notifications.models import Delivery, Device
from tests.factories import sign_in

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="reads the statistics of PostgreSQL"),
]


@pytest.fixture
def send(alice, bob, conversation):
    """send(): one more message to Bob, who has a phone."""
    Device.objects.create(user=bob, session=sign_in(bob)[0], registration_id="token", token_digest="digest")

    def write(number=0):
        messages.send(sender=alice, conversation_id=conversation, body="hello", client_id=f"c-{number}")

    write()
    return write


def test_a_send_adds_few_index_entries(send):
    entries = {table: count for table, count in index_entries(lambda: send(1)).items() if count}
    assert entries == {"messaging_message": 4, "realtime_event": 6}


def test_the_first_push_of_a_minute_adds_its_row(send):
    Delivery.objects.all().delete()
    entries = {table: count for table, count in index_entries(lambda: send(1)).items() if count}
    assert entries == {"messaging_message": 4, "realtime_event": 6, "notifications_delivery": 6}


def test_what_every_send_updates_is_updated_in_place(send):
    before = written()
    for number in range(1, 31):
        send(number)
    after = written()
    for table in HOT_TABLES:
        updated = after[table].updated - before[table].updated
        assert updated >= 30
        assert after[table].hot - before[table].hot >= 0.9 * updated, table


def test_a_send_has_few_statements(send, django_assert_max_num_queries):
    with django_assert_max_num_queries(8):
        send(1)
