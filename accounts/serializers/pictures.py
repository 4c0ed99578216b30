"""Serializers of image uploads."""

from rest_framework import serializers

from core.serializers import OkReply


class PictureInput(serializers.Serializer):
    # The content determines the type; an empty file is an invalid image, not a missing one.
    file = serializers.FileField(allow_empty_file=True)


class AvatarOutput(OkReply):
    avatar_url = serializers.CharField(allow_null=True)
