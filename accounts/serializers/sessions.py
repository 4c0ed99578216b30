"""Serializers of sessions and trusted devices, for their owner."""

from typing import Any

from rest_framework import serializers

from accounts.models import Session, TrustedDevice
from core.serializers import OkReply


class SessionSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    device_name = serializers.CharField(allow_blank=True)
    ip = serializers.IPAddressField(allow_null=True)
    user_agent = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField()
    is_current = serializers.BooleanField()

    @classmethod
    def render(cls, session: Session, *, current: Session) -> dict[str, Any]:
        return {
            "id": session.id,
            "device_name": _device_name(session),
            "ip": session.ip,
            "user_agent": session.user_agent,
            "created_at": session.created_at,
            "last_used_at": session.last_used_at,
            "is_current": session.id == current.id,
        }


class SessionsOutput(OkReply):
    sessions = SessionSerializer(many=True)


class RevokedOutput(OkReply):
    revoked = serializers.IntegerField(help_text="How many sessions ended.")


class DeviceSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    device_name = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()

    @classmethod
    def render(cls, device: TrustedDevice) -> dict[str, Any]:
        return {
            "id": device.id,
            "device_name": device.device_name,
            "created_at": device.created_at,
            "last_used_at": device.last_used_at,
            "expires_at": device.expires_at,
        }


class DevicesOutput(OkReply):
    devices = DeviceSerializer(many=True)


def _device_name(session: Session) -> str:
    """The device name; sessions of the admin are marked, so that their owner recognises them."""
    if session.kind != Session.Kind.ADMIN:
        return session.device_name
    return " · ".join(filter(None, [str(Session.Kind.ADMIN.label), session.device_name]))
