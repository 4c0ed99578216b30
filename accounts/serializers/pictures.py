"""Pictures as they come in."""

from rest_framework import serializers


class PictureInput(serializers.Serializer):
    # The content decides what it is; an empty file is a broken picture, not a missing one.
    file = serializers.FileField(allow_empty_file=True)


class AvatarOutput(serializers.Serializer):
    ok = serializers.BooleanField()
    avatar_url = serializers.CharField(allow_null=True)
