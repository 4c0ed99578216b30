"""Serializers of sign-in."""

from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from accounts.serializers.account import SignedInOutput
from core.fields import AddressField, PasswordField
from core.serializers import OkReply


class LoginInput(serializers.Serializer):
    email = AddressField()
    password = PasswordField()


class TwoStepRequiredOutput(OkReply):
    """The reply with two-step verification on: the data for the second step."""

    two_step_required = serializers.BooleanField()
    two_step_token = serializers.CharField()
    hint = serializers.CharField(allow_blank=True)


LoginResponse = PolymorphicProxySerializer(
    component_name="LoginResponse",
    serializers=[SignedInOutput, TwoStepRequiredOutput],
    resource_type_field_name=None,
)


class TokenOutput(OkReply):
    token = serializers.CharField()
