"""The limits that a client checks before it sends, as the document has them under `x-limits` and the SDK as `LIMITS`."""

from typing import Any

from accounts import conf as accounts
from accounts.serializers.security import LEAST_PASSWORD_LENGTH
from core.images.pool import MAX_BYTES, MIMES
from core.images.structure import MAX_SIDE, MAX_STILL_PIXELS
from messaging.conf import conf as messaging


def limits() -> dict[str, Any]:
    """Lengths are in characters, those of texts after trimming."""
    return {
        "bioLength": accounts.BIO_LENGTH,
        "hintLength": accounts.HINT_LENGTH,
        "imageBytes": MAX_BYTES,
        "imagePixels": MAX_STILL_PIXELS,
        "imageSide": MAX_SIDE,
        "imageTypes": list(MIMES.values()),
        "messageLength": messaging.BODY_LENGTH,
        "nameLength": accounts.NAME_LENGTH,
        "leastPasswordLength": LEAST_PASSWORD_LENGTH,
        "reactions": messaging.REACTIONS_PER_MESSAGE,
        "reportCommentLength": messaging.REPORT_COMMENT_LENGTH,
        "searchLength": messaging.SEARCH_QUERY_LENGTH,
        "usernameDays": accounts.conf.USERNAME_DAYS,
    }
