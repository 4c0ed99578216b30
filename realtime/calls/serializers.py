"""Calls as JSON, and the shapes of their replies."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from rest_framework import serializers

from core.api.open_values import OpenValueField, OpenValues
from core.api.serializers import OkReply
from core.api.shapes import Shape
from core.times import json_time
from messaging.serializers import CALL_OUTCOMES
from realtime.calls.models import Call, CallParticipant
from realtime.devices import Device

SIGNAL_KINDS = OpenValues(
    "CallSignalKind",
    {
        "offer": "A description of the session (SDP) that the other device answers.",
        "answer": "The description that answers an offer.",
        "ice": "A candidate for the connection.",
        "restart": "The other device is asked for a new offer.",
        "media": "Which media the other device sends, and which are muted.",
    },
)


def _expiry(call: Call, participants: Iterable[CallParticipant]) -> datetime | None:
    if call.state == Call.State.ENDED:
        return None
    if call.state == Call.State.ACTIVE and any(participant.gone_at is None for participant in participants):
        return None
    return call.expires_at


def _is_bound(participant: CallParticipant, device: Device) -> bool:
    # A REST request has no socket: compare the session that is bound to the call.
    if not device.socket_id:
        return participant.session_id == device.session_id
    return participant.socket_id == device.socket_id


class CallSerializer(Shape):
    id = serializers.IntegerField()
    conversation_id = serializers.IntegerField()
    caller_id = serializers.IntegerField()
    media = serializers.ChoiceField(Call.Media.choices)
    state = serializers.ChoiceField(Call.State.choices)
    outcome = OpenValueField(CALL_OUTCOMES, allow_null=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    answered_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    duration_s = serializers.IntegerField(allow_null=True)
    bound_to_you = serializers.BooleanField()

    @classmethod
    def render(cls, call: Call, *, device: Device) -> dict[str, Any]:
        """A call as one device of a participant sees it.

        `expires_at` is the deadline of the current state; null without a deadline: in an active call with
        at least one open bound socket, and in an ended call.
        """
        by_user = {participant.user_id: participant for participant in call.participants.all()}
        expires_at = _expiry(call, by_user.values())
        return cls.build(
            call,
            outcome=call.outcome or None,
            expires_at=json_time(expires_at) if expires_at else None,
            bound_to_you=_is_bound(by_user[device.user_id], device),
        )


class CallReply(OkReply):
    call = CallSerializer()


class CallsReply(OkReply):
    calls = CallSerializer(many=True)
    has_more = serializers.BooleanField()


class IceServer(serializers.Serializer):
    urls = serializers.ListField(child=serializers.CharField())
    username = serializers.CharField(required=False)
    credential = serializers.CharField(required=False)


class IceServersReply(OkReply):
    ice_servers = IceServer(many=True)
    ice_transport_policy = serializers.ChoiceField(["all", "relay"])


class CallRouteReply(CallReply, IceServersReply):
    """A call with the servers for its media."""


class DeclineInput(serializers.Serializer):
    reason = serializers.ChoiceField(
        [Call.Outcome.DECLINED.value, Call.Outcome.BUSY.value], default=Call.Outcome.DECLINED.value
    )


class CallRingingData(serializers.Serializer):
    call_id = serializers.IntegerField()


class CallSignalData(serializers.Serializer):
    call_id = serializers.IntegerField()
    kind = OpenValueField(SIGNAL_KINDS)
    payload = serializers.DictField()
