"""The log over REST."""

import re

from rest_framework import serializers

from core.serializers import OkReply
from realtime.conf import conf


class QueryIntegerField(serializers.IntegerField):
    """A whole number in a query string: digits only, so neither `1.0` nor an empty text."""

    def to_internal_value(self, data: float | int | str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,40}", str(data)):
            self.fail("invalid")
        return super().to_internal_value(data)


class ChangesQuery(serializers.Serializer):
    epoch = serializers.CharField(max_length=64, required=False, allow_blank=True)
    since = QueryIntegerField(min_value=0, max_value=2**63 - 1, required=False)
    limit = QueryIntegerField(min_value=1, default=conf.CHANGES_LIMIT)

    def validate_limit(self, limit: int) -> int:
        return min(limit, conf.CHANGES_MAX)


class LoggedEventSerializer(serializers.Serializer):
    type = serializers.CharField()
    seq = serializers.IntegerField()
    at = serializers.DateTimeField()
    data = serializers.DictField()  # type: ignore[assignment]


class ChangesReply(OkReply):
    epoch = serializers.CharField()
    events = LoggedEventSerializer(many=True)
    seq = serializers.IntegerField()
    has_more = serializers.BooleanField()
    reset = serializers.BooleanField()
