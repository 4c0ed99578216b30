"""The envelope of every reply. A class with `render` builds the JSON that its fields describe.

In every app `…Input` is the body of a request, `…Reply` a whole reply, and any other serializer a part of one.
"""

from rest_framework import serializers


class OkReply(serializers.Serializer):
    """A reply without further data, and the base of all others; the renderer writes `ok`."""

    ok = serializers.BooleanField()


class PageReply(OkReply):
    """A page of a list; core.pagination.page builds it."""

    has_more = serializers.BooleanField()
    next_cursor = serializers.CharField(allow_null=True)
