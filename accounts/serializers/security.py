"""Serializers of password, address and deletion of an account."""

from rest_framework import serializers

from core.fields import AddressField, CodeField, PasswordField, TextField
from core.serializers import OkReply


class ChangePasswordInput(serializers.Serializer):
    current_password = PasswordField()
    new_password = PasswordField()


class NewTokenOutput(OkReply):
    message = serializers.CharField()
    token = serializers.CharField()


class ChangeEmailInput(serializers.Serializer):
    email = AddressField()


class ChangeEmailVerifyInput(serializers.Serializer):
    code = CodeField()


class EmailUndoInput(serializers.Serializer):
    token = TextField(max_length=4096)


class ChoosePasswordInput(serializers.Serializer):
    """The form for a new password after an undone change of the address."""

    password_token = TextField(max_length=4096)
    new_password = PasswordField()


class DeletionOutput(OkReply):
    message = serializers.CharField()
    erase_after = serializers.DateTimeField()


class ChangeEmailOutput(OkReply):
    message = serializers.CharField()
    email = serializers.EmailField()
