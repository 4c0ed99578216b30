"""The data of the commands that concern the socket itself."""

from rest_framework import serializers

from core.fields import MAX_ID, StrictIntegerField, TextField


class PositionInput(serializers.Serializer):
    epoch = TextField(max_length=64)
    seq = StrictIntegerField(min_value=0, max_value=MAX_ID)


class AuthInput(serializers.Serializer):
    token = TextField(max_length=8192)
    resume = PositionInput(required=False, allow_null=True)


class AckInput(serializers.Serializer):
    seq = StrictIntegerField(min_value=0, max_value=MAX_ID)


class PingInput(serializers.Serializer):
    pass


# Commands that the connection itself handles; all others are rows of realtime.socket_commands.COMMANDS.
OWN_COMMANDS: dict[str, type[serializers.Serializer]] = {
    "auth": AuthInput,
    "resume": PositionInput,
    "ack": AckInput,
    "ping": PingInput,
}
