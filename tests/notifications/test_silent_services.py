"""A request queues and goes: what mail and push services do is nothing that it could feel."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from messaging.services import conversations
from tests.faults.proxy import HANG, REFUSE, FaultyProxy

pytestmark = pytest.mark.django_db(transaction=True)
MODES = (REFUSE, HANG, b"421 come back later\r\n", b"\x00\xff\r\n")


@pytest.fixture
def services(settings):
    """Ports where mail and push services are said to be. Connection attempts are counted."""
    mail, fcm = FaultyProxy(0), FaultyProxy(0)
    settings.NOTIFICATIONS_MAIL_TRANSPORT = {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {"host": "127.0.0.1", "port": mail.port, "timeout": 60},
    }
    settings.NOTIFICATIONS_PUSH_BACKEND = "fcm"
    settings.NOTIFICATIONS_FCM_ENDPOINT = f"http://127.0.0.1:{fcm.port}"
    settings.NOTIFICATIONS_NOTIFY = False
    yield mail, fcm
    mail.close()
    fcm.close()


def test_requests_use_the_database_and_no_other_service(services, anonymous, as_alice, alice, bob, device_of):
    device_of(bob)
    conversation_id = conversations.start(starter=alice, user_id=bob.id)[0].id
    counts = []
    for number, mode in enumerate((*MODES, *MODES)):
        for service in services:
            service.turn(mode)
        person = {"first_name": "New", "last_name": "Comer", "password": "a long word for me"}
        with CaptureQueriesContext(connection) as captured:
            anonymous.post("/api/v1/auth/signup", {**person, "email": f"new{number}@example.com"}, status=201)
            anonymous.post("/api/v1/auth/forgot-password", {"email": bob.email})
            as_alice.post(f"/api/v1/messages/conversations/{conversation_id}/messages", {"body": "hello"}, status=201)
        counts.append(len(captured))
    # The first round may open what later ones find.
    assert len(set(counts[len(MODES) :])) == 1, counts
    assert [service.attempts for service in services] == [0, 0]
