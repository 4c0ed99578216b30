"""Events of other services, as the schema describes them."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from core.serializers import OkReply
from notifications.conf import conf
from notifications.kinds import EVENT_KINDS


class EventTarget(serializers.Serializer):
    id = serializers.IntegerField()
    title = serializers.CharField(max_length=120, allow_blank=True, required=False)


class EventInput(serializers.Serializer):
    event_id = serializers.CharField(max_length=128)
    type = serializers.ChoiceField(choices=sorted(EVENT_KINDS))
    action = serializers.ChoiceField(choices=["create", "retract"], default="create")
    recipient_id = serializers.IntegerField()
    actor_id = serializers.IntegerField()
    target = EventTarget(required=False)
    comment_id = serializers.IntegerField(required=False, allow_null=True)
    occurred_at = serializers.DateTimeField(required=False, allow_null=True)


class EventsInput(serializers.Serializer):
    events = EventInput(many=True)


class EventResult(serializers.Serializer):
    event_id = serializers.CharField(allow_null=True)
    result = serializers.CharField()


class EventsOutput(OkReply):
    results = EventResult(many=True)


def events_of(body: dict[str, Any]) -> list[object]:
    """The one event that the body is, or its `events`. What each says is judged one by one, later."""
    if "events" not in body and "event_id" in body:
        return [body]
    events = body.get("events")
    if not isinstance(events, list) or not events:
        raise serializers.ValidationError({"events": [_("One event or a list of events is required.")]})
    if len(events) > conf.EVENTS_PER_REQUEST:
        limit = _("At most %(limit)d events at once.") % {"limit": conf.EVENTS_PER_REQUEST}
        raise serializers.ValidationError({"events": [limit]})
    return events
