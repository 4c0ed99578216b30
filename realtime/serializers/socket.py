"""The data of the commands that concern the socket itself."""

from rest_framework import serializers

from accounts.fields import MAX_ID, StrictIntegerField, TextField


class PositionInput(serializers.Serializer):
    epoch = TextField(max_length=64)
    seq = StrictIntegerField(min_value=0, max_value=MAX_ID)


class AuthInput(serializers.Serializer):
    token = TextField(max_length=8192)
    resume = PositionInput(required=False, allow_null=True)


class ResumeInput(PositionInput):
    # On an open socket the epoch is known from `ready`.
    epoch = TextField(max_length=64, required=False)


class AckInput(serializers.Serializer):
    seq = StrictIntegerField(min_value=0, max_value=MAX_ID)


class PingInput(serializers.Serializer):
    pass


# What the socket itself answers; everything else is a row of realtime.inbound.COMMANDS.
OWN_COMMANDS: dict[str, type[serializers.Serializer]] = {
    "auth": AuthInput,
    "resume": ResumeInput,
    "ack": AckInput,
    "ping": PingInput,
}
