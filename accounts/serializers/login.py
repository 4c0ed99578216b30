"""What sign-in takes and gives."""

from rest_framework import serializers

from accounts.fields import AddressField, PasswordField
from accounts.serializers.account import AccountOutput


class LoginInput(serializers.Serializer):
    email = AddressField()
    password = PasswordField()


class LoginOutput(serializers.Serializer):
    """Either a token and its user, or, with the second step on, the way to it."""

    ok = serializers.BooleanField()
    token = serializers.CharField(required=False)
    user = AccountOutput(required=False)
    two_step_required = serializers.BooleanField(required=False)
    two_step_token = serializers.CharField(required=False)
    hint = serializers.CharField(required=False, allow_blank=True)


class TokenOutput(serializers.Serializer):
    ok = serializers.BooleanField()
    token = serializers.CharField()
