"""Serializers of challenges and action tokens."""

from rest_framework import serializers

from core.fields import CodeField, TextField
from core.serializers import OkReply


class ChallengeInput(serializers.Serializer):
    action = TextField(max_length=64)


class ChallengeOutput(OkReply):
    challenge_token = serializers.CharField()
    expires_in = serializers.IntegerField(help_text="Seconds.")


class ActionVerifyInput(serializers.Serializer):
    challenge_token = TextField(max_length=4096)
    code = CodeField()


class ActionOutput(OkReply):
    action_token = serializers.CharField()
    expires_in = serializers.IntegerField(help_text="Seconds.")
