"""Every write of the API, sent several times at the same moment and mixed with all others: no reply is an error of the
server, and the rows agree with each other afterwards.

The operations come from the OpenAPI document, so that a new one must be added here.
"""

import io
import json
import random
import re
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from django.core import mail
from django.db import IntegrityError
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils import timezone
from PIL import Image as Pillow
from rest_framework.exceptions import APIException

from accounts.models import EmailChange, OneTimeToken, RecoveryCode, Session, User
from accounts.services import account_status, email_change, profile, purge
from accounts.sign_in import action_tokens, codes, recovery_codes, second_password, trusted_devices
from core.api import ratelimits
from core.database.deletion import run_first_batches
from core.database.transactions import unit_of_work
from messaging.models import Participant
from messaging.services import conversations, locking, messages
from notifications.models import Device, Notification
from notifications.services import social
from realtime.models import Call, Event, Stream
from tests import schema
from tests.accounts.steps import SECOND, last_code
from tests.client import JSON, ApiClient
from tests.factories import PASSWORD, make_user, sign_in
from tests.integrations.server import make_key
from tests.notifications.test_events import KEY, signature
from tests.parallel import parallel_outcomes
from tests.realtime.phones import phone_of

pytestmark = pytest.mark.django_db(transaction=True)

AUTH, CHATS, ONE = "/api/v1/auth", "/api/v1/messages/conversations", "/api/v1/messages/messages"
AT_ONCE = 4


class Request(NamedTuple):
    method: str
    path: str
    data: Any = None
    token: str | None = None
    headers: dict[str, str] | None = None
    content_type: str = JSON

    def send(self) -> Any:
        client = ApiClient(self.token)
        return client.raw(self.method, self.path, self.data, content_type=self.content_type, headers=self.headers)


class World:
    """Two users with a conversation, one of them with a second password, and what their requests need."""

    def __init__(self) -> None:
        self.alice, self.bob = make_user("Alice"), make_user("Bob")
        self.chat = conversations.start(starter=self.alice, user_id=self.bob.id)[0].id
        self.message(self.alice)
        self.message(self.bob)
        _, action_token = self.proof(self.bob, action_tokens.Action.TWO_STEP_ENABLE)
        second_password.enable(user=self.bob, action_token=action_token, password=SECOND)

    def token(self, user: User) -> str:
        return sign_in(user)[1]

    def as_alice(self, method: str, path: str, data: Any = None) -> Request:
        return Request(method, path, data, self.token(self.alice))

    def message(self, sender: User) -> int:
        return messages.send(sender=sender, conversation_id=self.chat, body="Tea?")[0].id

    def notification(self) -> int:
        social.notify(kind="post_like", recipient_id=self.alice.id, actor_id=self.bob.id, target_id=7, title="Tea")
        rows = Notification.objects.filter(recipient=self.alice, kind="post_like")
        return rows.order_by("-id").values_list("id", flat=True)[0]

    def proof(self, user: User, action: str) -> tuple[Session, OneTimeToken]:
        session, token = self.step(user, OneTimeToken.Kind.ACTION, action)
        return session, OneTimeToken.objects.of(token, OneTimeToken.Kind.ACTION)

    def step(self, user: User, kind: OneTimeToken.Kind, action: str = "") -> tuple[Session, str]:
        session, _ = sign_in(user)
        return session, self.issued(session, kind, action)

    def issued(self, session: Session, kind: OneTimeToken.Kind, action: str) -> str:
        """A one-time token. LookupError when another thread has erased its user meanwhile."""
        try:
            return OneTimeToken.objects.issue(kind=kind, user=session.user, session=session, action=action)
        except IntegrityError as error:
            raise LookupError(session.id) from error

    def confirmed(self, user: User, action: str, path: str, data: Any = None) -> Request:
        """A request with an action token."""
        session, token = sign_in(user)
        issued = self.issued(session, OneTimeToken.Kind.ACTION, action)
        return Request("POST", f"{AUTH}/{path}", data, token, {"X-Action-Token": issued})

    def second_step(self, path: str, data: Any = None) -> Request:
        token = OneTimeToken.objects.issue(kind=OneTimeToken.Kind.TWO_STEP, user=self.bob)
        return Request("POST", f"{AUTH}/{path}", data, token)

    def challenge(self) -> Request:
        session, token = sign_in(self.alice)
        challenge = action_tokens.challenge(user=self.alice, session=session, action=action_tokens.Action.EXPORT_DATA)
        data = {"challenge_token": challenge, "code": last_code(self.alice.email)}
        return Request("POST", f"{AUTH}/action-verify", data, token)

    def new_address(self) -> str:
        """An address that waits for its code."""
        self.alice = User.objects.get(id=self.alice.id)
        session, action_token = self.proof(self.alice, action_tokens.Action.CHANGE_EMAIL)
        address = f"{uuid.uuid4().hex}@example.com"
        email_change.start(user=self.alice, session=session, action_token=action_token, email=address)
        return address

    def undo(self) -> Request:
        address, old = self.new_address(), self.alice.email
        self.alice = email_change.verify(user=self.alice, code=last_code(address), network="192.0.2.1")
        text = next(sent.body for sent in reversed(mail.outbox) if sent.to == [old])
        found = re.search(r"/email-undo/(\S+)", text)
        assert found, text
        return Request("POST", f"{AUTH}/change-email/undo", {"token": found[1]})

    def unconfirmed(self) -> User:
        return make_user("Una", verified=False)

    def verify(self) -> Request:
        user = self.unconfirmed()
        data = {"email": user.email, "code": codes.issue(user=user, purpose="signup", address=user.email)}
        return Request("POST", f"{AUTH}/verify", data)

    def reset(self) -> Request:
        code = codes.issue(user=self.alice, purpose="reset", address=self.alice.email)
        data = {"email": self.alice.email, "code": code, "new_password": "another horse 9"}
        return Request("POST", f"{AUTH}/verify-reset", data)

    def recovery(self) -> Request:
        with unit_of_work():
            [code, *_] = recovery_codes.replace_recovery_codes(user=self.bob, now=timezone.now())
        return self.second_step("two-step/forgot", {"recovery_code": code})

    def ringing_call(self) -> int:
        call = phone_of(self.bob).invite(self.chat)
        return call.id

    def upload(self, method: str, path: str, **form: Any) -> Request:
        picture = io.BytesIO()
        Pillow.new("RGB", (8, 8), random.choice(("red", "blue"))).save(picture, "PNG")
        picture.name = "a.png"
        picture.seek(0)
        body = encode_multipart(BOUNDARY, {"file": picture, **form})
        return Request(method, path, body, self.token(self.alice), content_type=MULTIPART_CONTENT)

    def as_server(self, method: str, path: str, data: Any = None) -> Request:
        return Request(method, f"/api/v1/server/{path}", data, make_key())

    def events(self) -> Request:
        event = {
            "event_id": uuid.uuid4().hex,
            "type": "post_like",
            "action": "create",
            "recipient_id": self.alice.id,
            "actor_id": self.bob.id,
            "target_id": 7,
            "title": "Tea",
        }
        body = json.dumps({"events": [event]}).encode()
        return Request("POST", "/api/v1/notifications/events", body, headers=signature(body))


WRITES: dict[str, Callable[[World], Request]] = {
    "auth_action_challenge": lambda w: w.as_alice(
        "POST", f"{AUTH}/action-challenge", {"action": "change_password", "current_password": PASSWORD}
    ),
    "auth_action_verify": World.challenge,
    "auth_change_email": lambda w: w.confirmed(
        w.alice, action_tokens.Action.CHANGE_EMAIL, "change-email", {"email": f"{uuid.uuid4().hex}@example.com"}
    ),
    "auth_change_email_undo": World.undo,
    "auth_change_email_verify": lambda w: w.as_alice(
        "POST", f"{AUTH}/change-email/verify", {"code": last_code(w.new_address())}
    ),
    "auth_change_password": lambda w: w.confirmed(
        w.alice,
        action_tokens.Action.CHANGE_PASSWORD,
        "change-password",
        {"current_password": PASSWORD, "new_password": "another horse 9"},
    ),
    "auth_delete_account": lambda w: w.confirmed(w.alice, action_tokens.Action.DELETE_ACCOUNT, "delete-account"),
    "auth_devices_remove": lambda w: w.as_alice(
        "DELETE", f"{AUTH}/devices/{trusted_devices.remember_device(user=w.alice)[0].id}"
    ),
    "auth_forgot_password": lambda w: Request("POST", f"{AUTH}/forgot-password", {"email": w.alice.email}),
    "auth_login": lambda w: Request("POST", f"{AUTH}/login", {"email": w.alice.email, "password": PASSWORD}),
    "auth_identity_token": lambda w: w.as_alice("POST", f"{AUTH}/identity-token", {"audience": "shop"}),
    "auth_logout": lambda w: w.as_alice("POST", f"{AUTH}/logout"),
    "auth_refresh": lambda w: w.as_alice("POST", f"{AUTH}/refresh"),
    "auth_resend_otp": lambda w: Request("POST", f"{AUTH}/resend-otp", {"email": w.unconfirmed().email}),
    "auth_two_step_resend": lambda w: w.second_step("resend-two-step"),
    "auth_sessions_end": lambda w: w.as_alice("DELETE", f"{AUTH}/sessions/{sign_in(w.alice)[0].id}"),
    "auth_sessions_end_others": lambda w: w.as_alice("POST", f"{AUTH}/sessions/revoke-others"),
    "auth_signup": lambda w: Request(
        "POST",
        f"{AUTH}/signup",
        {"email": f"{uuid.uuid4().hex}@example.com", "password": PASSWORD, "first_name": "Una", "last_name": "X"},
    ),
    "auth_two_step": lambda w: w.second_step("two-step", {"password": SECOND, "remember": True}),
    "auth_two_step_change": lambda w: w.confirmed(
        w.bob,
        action_tokens.Action.TWO_STEP_CHANGE,
        "two-step/change",
        {"password": SECOND, "new_password": "green lantern 43"},
    ),
    "auth_two_step_disable": lambda w: w.confirmed(
        w.bob, action_tokens.Action.TWO_STEP_DISABLE, "two-step/disable", {"password": SECOND}
    ),
    "auth_two_step_enable": lambda w: w.confirmed(
        w.alice, action_tokens.Action.TWO_STEP_ENABLE, "two-step/enable", {"password": SECOND}
    ),
    "auth_two_step_forgot": World.recovery,
    "auth_two_step_recovery_codes": lambda w: w.confirmed(
        w.bob, action_tokens.Action.RECOVERY_CODES, "two-step/recovery-codes"
    ),
    "auth_verify": World.verify,
    "auth_verify_reset": World.reset,
    "calls_decline": lambda w: w.as_alice("POST", f"/api/v1/calls/{w.ringing_call()}/decline"),
    "messages_start_conversation": lambda w: w.as_alice("POST", CHATS, {"user_id": make_user("Una").id}),
    "messages_clear_conversation": lambda w: w.as_alice("POST", f"{CHATS}/{w.chat}/clear"),
    "messages_send_image": lambda w: w.upload("POST", f"{CHATS}/{w.chat}/media", client_id=uuid.uuid4().hex),
    "messages_send": lambda w: w.as_alice(
        "POST", f"{CHATS}/{w.chat}/messages", {"body": "Tea?", "client_id": uuid.uuid4().hex}
    ),
    "messages_mark_read": lambda w: w.as_alice("POST", f"{CHATS}/{w.chat}/read", {"message_id": w.message(w.bob)}),
    "messages_edit": lambda w: w.as_alice("PATCH", f"{ONE}/{w.message(w.alice)}", {"body": "Coffee?"}),
    "messages_delete": lambda w: w.as_alice("DELETE", f"{ONE}/{w.message(w.alice)}"),
    "messages_react": lambda w: w.as_alice("POST", f"{ONE}/{w.message(w.bob)}/reactions", {"emoji": "👍"}),
    "messages_unreact": lambda w: w.as_alice("DELETE", f"{ONE}/{w.message(w.bob)}/reactions", {"emoji": "👍"}),
    "messages_report": lambda w: w.as_alice("POST", f"{ONE}/{w.message(w.bob)}/report", {"reason": "spam"}),
    "notifications_delete": lambda w: w.as_alice("DELETE", f"/api/v1/notifications/{w.notification()}"),
    "notifications_read": lambda w: w.as_alice("POST", f"/api/v1/notifications/{w.notification()}/read"),
    "notifications_events": World.events,
    "notifications_preferences_set": lambda w: w.as_alice(
        "PUT",
        "/api/v1/notifications/preferences",
        dict.fromkeys(("enabled", "likes", "comments", "follows", "messages"), True) | {"quiet_mode": False},
    ),
    "notifications_preferences_change": lambda w: w.as_alice(
        "PATCH", "/api/v1/notifications/preferences", {"quiet_mode": True}
    ),
    "notifications_read_all": lambda w: w.as_alice("POST", "/api/v1/notifications/read-all"),
    "notifications_test_push": lambda w: w.as_alice("POST", "/api/v1/notifications/test-push"),
    "profile_update": lambda w: w.as_alice("PATCH", "/api/v1/profile", {"bio": "Tea", "username": "alice_archer"}),
    "profile_avatar_set": lambda w: w.upload("PUT", "/api/v1/profile/avatar"),
    "profile_avatar_remove": lambda w: w.as_alice("DELETE", "/api/v1/profile/avatar"),
    "profile_blocks_add": lambda w: w.as_alice("POST", "/api/v1/profile/blocks", {"user_id": w.bob.id}),
    "profile_blocks_remove": lambda w: w.as_alice(
        "DELETE", f"/api/v1/profile/blocks/{profile.block(blocker=w.alice, blocked_id=w.bob.id).blocked_id}"
    ),
    "profile_privacy_set": lambda w: w.as_alice("PUT", "/api/v1/profile/privacy", {"read_receipts": False}),
    "profile_push_token_set": lambda w: w.as_alice(
        "POST", "/api/v1/profile/push-token", {"token": random.choice("abc") * 20, "device_id": "phone"}
    ),
    "profile_push_token_remove": lambda w: w.as_alice(
        "DELETE", "/api/v1/profile/push-token", {"token": random.choice("abc") * 20}
    ),
    "server_introspect": lambda w: w.as_server("POST", "introspect", {"token": w.token(w.alice)}),
    "server_messages_send": lambda w: w.as_server(
        "POST",
        "messages",
        {"sender_id": w.alice.id, "recipient_id": w.bob.id, "body": "Tea?", "client_id": uuid.uuid4().hex},
    ),
    "server_sessions_open": lambda w: w.as_server("POST", f"users/{w.alice.id}/sessions", {}),
    "server_users_block": lambda w: w.as_server("POST", f"users/{w.bob.id}/block", {"reason": "spam"}),
    "server_users_change": lambda w: w.as_server("PATCH", f"users/{w.alice.id}", {"external_id": uuid.uuid4().hex}),
    "server_users_create": lambda w: w.as_server(
        "POST", "users", {"email": f"{uuid.uuid4().hex}@example.com", "first_name": "Una", "last_name": "X"}
    ),
    "server_users_erase": lambda w: w.as_server("DELETE", f"users/{make_user('Una').id}", {"reason": "asked"}),
    "server_users_sign_out": lambda w: w.as_server("POST", f"users/{w.alice.id}/sign-out", {}),
    "server_users_unblock": lambda w: w.as_server("POST", f"users/{w.bob.id}/unblock", {}),
}
# The mix leaves out what ends all of it.
ENDS_ALL = {"auth_delete_account", "auth_change_password", "auth_verify_reset", "server_users_block"}
MIXED = [name for name in WRITES if name not in ENDS_ALL]


# What staff and the purge do meanwhile.
STAFF: list[Callable[[World], Any]] = [
    lambda w: account_status.block(user=w.alice, reason="spam", actor="test"),
    lambda w: account_status.unblock(user=w.alice, actor="test"),
    lambda w: account_status.sign_out_everywhere(user=w.bob, actor="test"),
    lambda w: account_status.unlock(user=w.bob, actor="test"),
    lambda w: profile.record_last_seen(user_ids=[w.bob.id, w.alice.id], at=timezone.now()),
    lambda w: run_first_batches(purge.jobs(timezone.now(), 100)),
]


@pytest.fixture(autouse=True)
def without_limits(settings):
    for prefix in ("CORE", "ACCOUNTS", "MESSAGING", "NOTIFICATIONS", "REALTIME", "INTEGRATIONS"):
        scopes = ratelimits.scopes(prefix)
        setattr(settings, f"{prefix}_RATES", dict.fromkeys(scopes, (1_000_000, 3600, "allow")))
    settings.INTEGRATIONS_IDENTITY_AUDIENCES = ["shop"]
    settings.NOTIFICATIONS_PUSH_BACKEND = "console"
    settings.NOTIFICATIONS_EVENT_SOURCES = f"blog:{KEY.replace(' ', '_')}:post_like"


@pytest.fixture
def world() -> World:
    return World()


def writes_of_the_document() -> set[str]:
    return {
        operation["operationId"]
        for operations in schema.document()["paths"].values()
        for method, operation in operations.items()
        if method in ("post", "put", "patch", "delete")
    }


def agrees(world: World) -> None:
    """The counters, the log and the rows that depend on others."""
    for participant in Participant.objects.all():
        assert participant.unread_count == locking.count_unread(participant)
        newest = locking.newest_visible_id(participant.conversation_id, participant.cleared_up_to_id)
        assert participant.last_message_id == newest
    for stream in Stream.objects.all():
        numbers = list(Event.objects.filter(user_id=stream.user_id).order_by("seq").values_list("seq", flat=True))
        assert numbers == list(range(stream.min_seq + 1, stream.head_seq + 1))
    live_ids = Session.objects.live().values("id")
    assert not Device.objects.exclude(session_id__in=live_ids).exists()
    assert EmailChange.objects.filter(user=world.alice, confirmed_at=None).count() <= 1
    assert RecoveryCode.objects.unused().filter(user=world.bob).count() <= 10
    assert Call.objects.not_ended().count() <= 1


def refused(response: Any) -> str | None:
    """What is wrong with a reply that no client should get."""
    if isinstance(response, BaseException):
        return repr(response)
    return f"{response.status_code} {response.content[:200]!r}" if response.status_code >= 500 else None


def test_every_write_is_here():
    assert set(WRITES) == writes_of_the_document()


@pytest.mark.parametrize("name", WRITES)
def test_the_same_write_at_once(name, world):
    request = WRITES[name](world)
    responses = parallel_outcomes(AT_ONCE, lambda _index: request.send())
    assert [problem for problem in map(refused, responses) if problem] == []
    counted = Counter(response.status_code for response in responses)
    assert min(counted) < 300, counted
    for response in responses:
        schema.hold(request.method, request.path, response.status_code, response.json())
    agrees(world)


@pytest.mark.parametrize("ending", ["", "erased", "blocked"])
def test_all_writes_mixed(ending, world):
    def act(index: int) -> list[str]:
        chance = random.Random(f"{ending} {index}")
        problems = []
        for turn in range(15):
            if index == 0 and turn == 7 and ending == "erased":
                account_status.erase(user=world.bob, actor="test")
            if index == 0 and turn == 7 and ending == "blocked":
                account_status.block(user=world.bob, reason="spam", actor="test")
            name = chance.choice(MIXED)
            try:
                if chance.random() < 0.1:
                    chance.choice(STAFF)(world)
                request = WRITES[name](world)
            except (APIException, AssertionError, LookupError, StopIteration):
                continue  # another thread has changed what it needs
            problem = refused(request.send())
            if problem:
                problems.append(f"{name}: {problem}")
        return problems

    outcomes = parallel_outcomes(6, act, seconds=120)
    assert [outcome for outcome in outcomes if outcome] == []
    agrees(world)
