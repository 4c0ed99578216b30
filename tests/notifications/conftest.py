"""What the feed's tests say often."""

import threading
import uuid

import pytest

from notifications.services import delivery, devices, social
from tests.factories import sign_in
from tests.notifications.fake_fcm import FakeFcm


@pytest.fixture
def like():
    """like(actor, recipient, post): as another service would report it."""

    def announce(actor, recipient, post_id=7, **particulars):
        return social.notify(
            kind="post_like",
            recipient_id=recipient.id,
            actor_id=actor.id,
            target_id=post_id,
            title=particulars.pop("title", "Tea"),
            **particulars,
        )

    return announce


@pytest.fixture
def unlike():
    def announce(actor, recipient, post_id=7):
        return social.retract(kind="post_like", recipient_id=recipient.id, actor_id=actor.id, target_id=post_id)

    return announce


@pytest.fixture
def worker():
    """worker() starts the real worker in threads of this process; it is stopped at the end."""
    running = []

    def start():
        stopped = threading.Event()
        thread = threading.Thread(target=delivery.run, args=(stopped,))
        thread.start()
        running.append((stopped, thread))

    yield start
    for stopped, _ in running:
        stopped.set()
    for _, thread in running:
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture
def device_of():
    """device_of(person): a registered phone of theirs, on a sign-in of its own."""

    def register(user, token=None, **particulars):
        session, _ = sign_in(user)
        token = token or f"token-{uuid.uuid4().hex}"
        return devices.register(user_id=user.id, session_id=session.id, token=token, **particulars)

    return register


@pytest.fixture(scope="session")
def fcm_process(tmp_path_factory):
    fake = FakeFcm(tmp_path_factory.mktemp("fcm"))
    yield fake
    fake.stop()


@pytest.fixture
def fcm(fcm_process, settings):
    """The local push service, empty, and the settings that point to it."""
    fcm_process.reset()
    settings.NOTIFICATIONS_PUSH_BACKEND = "fcm"
    settings.NOTIFICATIONS_FCM_ENDPOINT = fcm_process.endpoint
    settings.NOTIFICATIONS_FCM_CREDENTIALS = fcm_process.credentials
    return fcm_process
