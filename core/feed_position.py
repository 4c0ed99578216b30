"""A cursor for a feed that stays correct while rows move back to the top."""

import base64
import binascii
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LAYOUT = ">qq"


@dataclass(frozen=True, slots=True)
class Position:
    """The position directly after the row with these values."""

    created_at: datetime
    id: int

    def encode(self) -> str:
        packed = struct.pack(_LAYOUT, (self.created_at - _EPOCH) // _MICROSECOND, self.id)
        return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()

    @classmethod
    def decode(cls, cursor: str) -> "Position":
        """ValueError for anything that `encode` did not make."""
        try:
            packed = base64.b64decode(cursor + "==", altchars=b"-_", validate=True)
            microseconds, row_id = struct.unpack(_LAYOUT, packed)
            position = cls(_EPOCH + timedelta(microseconds=microseconds), row_id)
        except (binascii.Error, struct.error, OverflowError) as error:
            raise ValueError("not a cursor") from error
        if row_id < 1 or position.encode() != cursor:
            raise ValueError("not a cursor")
        return position
