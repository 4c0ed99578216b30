"""Every class that renders JSON renders exactly the fields that it declares, from real rows."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from django.utils import timezone
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import BaseSerializer, ListSerializer

from accounts import selectors as accounts
from accounts.serializers import security, users
from accounts.services import profile
from accounts.sign_in import trusted_devices
from core.api.shapes import Shape
from integrations.models import Event
from integrations.serializers import ServerEventOutput, ServerSessionReply, ServerUserOutput
from messaging import selectors as messaging
from messaging.serializers import ConversationOutput, MessageOutput, ReactionsReply
from notifications import selectors as notifications
from notifications.models import Notification
from notifications.serializers import NotificationSerializer, PreferencesInput
from realtime.calls.selectors import call_history
from realtime.calls.serializers import CallSerializer
from realtime.serializers import ReadyData
from realtime.services import event_log
from realtime.socket_events import EventData, MessageData
from tests.factories import sign_in
from tests.messaging.conftest import message_path
from tests.messaging.test_images import upload
from tests.realtime.phones import conversation_of, phone_of, start_call


def test_each_shape_renders_exactly_what_it_declares(alice, bob, charlie, as_alice, as_bob):
    session, token = sign_in(alice)
    device, _ = trusted_devices.remember_device(user=alice, device_name="Laptop")
    as_alice.upload("/api/v1/profile/avatar", method="PUT", status=200, file=upload())
    alice.refresh_from_db()
    alice.password_changed_at = timezone.now()
    conversation_id = conversation_of(alice, bob)
    path = f"/api/v1/messages/conversations/{conversation_id}"
    phone = phone_of(alice)
    start_call(phone, phone_of(bob), conversation_id, "active")
    calls, _ = call_history(alice.id, limit=10, before=None)
    phone.hangup(calls[0].id)
    calls += call_history(alice.id, limit=10, before=None)[0]
    image = as_bob.upload(f"{path}/media", status=201, file=upload())["message"]
    reply = as_alice.post(
        f"{path}/messages", {"body": "nice", "reply_to_id": image["id"], "client_id": "1"}, status=201
    )
    as_bob.post(message_path(reply["message"]["id"], "/reactions"), {"emoji": "👍"})
    as_bob.post(f"{path}/messages", {"body": "thanks"}, status=201)
    messages, _ = messaging.message_page(user_id=alice.id, conversation_id=conversation_id, limit=10)
    shown, _ = messaging.conversation_page(user_id=alice.id, limit=10)
    profile.block(blocker=alice, blocked_id=charlie.id)
    blocked, _ = accounts.blocks_page(alice.id, limit=10, cursor=None)

    rendered = [
        (users.AccountOutput, users.AccountOutput.render(alice)),
        (users.SignInReply, users.SignInReply.render(alice, token)),
        (security.TwoStepReply, security.TwoStepReply.render(alice, token, device_token="d")),
        (security.RecoverySignInReply, security.RecoverySignInReply.render(alice, token, recovery_codes_left=9)),
        (ServerUserOutput, ServerUserOutput.render(alice)),
        (ServerEventOutput, ServerEventOutput.render(Event(number=1, type="message.created"), {"message_id": 1})),
        (users.OwnAccountOutput, users.OwnAccountOutput.render(alice)),
        (users.ProfileSerializer, users.ProfileSerializer.render(alice)),
        (users.FullAccount, users.FullAccount.render(alice)),
        (users.AvatarReply, users.AvatarReply.render(alice)),
        (users.TokenReply, users.TokenReply.of_token(token)),
        (security.PasswordChangedReply, security.PasswordChangedReply.of_token(token, message="Changed.")),
        (ServerSessionReply, ServerSessionReply.of_token(token, user=ServerUserOutput.render(alice))),
        (users.PersonSerializer, users.PersonSerializer.render(alice)),
        (users.PersonProfileOutput, users.PersonProfileOutput.render(alice)),
        (users.PrivacySerializer, users.PrivacySerializer.render(alice)),
        *((users.BlockSerializer, users.BlockSerializer.render(row)) for row in blocked),
        (security.SessionSerializer, security.SessionSerializer.render(session, current=session)),
        (security.TrustedDeviceSerializer, security.TrustedDeviceSerializer.render(device)),
        *(
            (security.SecurityChangeSerializer, security.SecurityChangeSerializer.render(change))
            for change in accounts.security_changes(alice)
        ),
        (security.TwoStepStatusReply, security.TwoStepStatusReply.render(alice, codes_left=0)),
        *((MessageOutput, MessageOutput.render(message, alice.id)) for message in messages),
        (ReactionsReply, ReactionsReply.render(messages[1].reactions)),
        (MessageData, MessageData.render(messaging.SeenMessage(messages[0], 0), alice.id)),
        *((ConversationOutput, ConversationOutput.render(conversation)) for conversation in shown),
        *((NotificationSerializer, NotificationSerializer.render(row)) for row in Notification.objects.all()),
        (PreferencesInput, PreferencesInput.render(notifications.preferences_of(alice.id))),
        *((CallSerializer, CallSerializer.render(call, device=phone.device)) for call in calls),
        (ReadyData, ReadyData.render(event_log.position(alice.id), calls, device=phone.device)),
    ]
    seen: set[type] = set()
    for shape, value in rendered:
        hold(shape(), json.loads(JSONRenderer().render(value)), seen)
    # The events of the log are compared with the AsyncAPI document wherever a test receives one.
    assert seen >= {shape for shape in all_of(Shape) if not issubclass(shape, EventData | Whole | Part)}


class Part(Shape):
    name = serializers.CharField()


class Whole(Shape):
    id = serializers.IntegerField()
    title = serializers.CharField(source="part.name")
    part = Part()
    parts = Part(many=True)
    other = Part(allow_null=True)
    all_of_it = Part(source="*")
    at = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True)
    silent = serializers.BooleanField(required=False)


class Larger(Whole):
    size = serializers.IntegerField()

    @classmethod
    def render(cls, row, factor):
        return cls.build(row, size=factor * row.id)


def test_a_shape_reads_a_row_by_the_names_of_its_fields():
    part, at = SimpleNamespace(name="p"), datetime(2026, 11, 1, tzinfo=UTC)
    row = SimpleNamespace(id=3, name="row", part=part, parts=[part, part], other=None, at=at, until=None)
    p, text = {"name": "p"}, "2026-11-01T00:00:00.000000Z"
    expected = {
        "id": 3, "title": "p", "part": p, "parts": [p, p], "other": None, "all_of_it": {"name": "row"}, "at": text,
        "until": None,
    }  # fmt: skip
    assert Whole.render(row) == expected
    assert list(Whole.render(row)) == list(expected)  # in the order of declaration
    assert Whole.build(row, silent=True, id=4, other=1) == expected | {"silent": True, "id": 4, "other": 1}
    assert Larger.render(row, 2) == expected | {"size": 6}
    with pytest.raises(AttributeError, match="size"):
        Larger.build(row)
    with pytest.raises(TypeError, match="unknown"):
        Whole.build(row, unknown=1)


def hold(shape: BaseSerializer, value: dict[str, object], seen: set[type]) -> None:
    """`value` has each field of the shape and no other, and each accepts what it finds."""
    assert set(value) == set(shape.fields) - {"ok"}, type(shape)
    seen.add(type(shape))
    for name, field in shape.fields.items():
        inner = value.get(name)
        if name == "ok":
            continue
        if inner is None:
            assert field.allow_null, f"{type(shape).__name__}.{name}"
        elif isinstance(field, ListSerializer):
            for item in inner:
                hold(field.child, item, seen)
        elif isinstance(field, BaseSerializer):
            hold(field, inner, seen)
        else:
            field.run_validation(inner)


def all_of(base: type) -> set[type]:
    """Its subclasses in the apps, at any depth."""
    subclasses = set(base.__subclasses__())
    return {each for shape in subclasses for each in {shape, *all_of(shape)} if not each.__module__.startswith("rest_")}
