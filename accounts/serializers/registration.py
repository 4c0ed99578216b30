"""Serializers of sign-up, confirmation and password reset."""

from rest_framework import serializers

from core.fields import AddressField, CodeField, LanguageField, NameField, PasswordField


class SignUpInput(serializers.Serializer):
    first_name = NameField()
    last_name = NameField()
    email = AddressField()
    password = PasswordField()
    language = LanguageField()


class AddressInput(serializers.Serializer):
    email = AddressField()


class VerifyInput(serializers.Serializer):
    email = AddressField()
    code = CodeField()


class ResetInput(serializers.Serializer):
    email = AddressField()
    code = CodeField()
    new_password = PasswordField()
