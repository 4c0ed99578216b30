"""All data of a user in one zip. Other apps register exporters for their data."""

import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from typing import IO, Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.text import slugify

from accounts.exceptions import UserNotFound
from accounts.images import pictures
from accounts.models import AuditEntry, EmailChange, Image, OneTimeToken, Session, TrustedDevice, User
from accounts.selectors import blocks_made_by
from accounts.sign_in import action_tokens
from core.conf import project
from core.languages import language_tag
from core.times import json_time

# What an exporter yields: names of files with JSON values, iterators of rows, or bytes.
Files = Iterator[tuple[str, Any]]
Exporter = Callable[[int], Files]

IN_MEMORY_BYTES = 8_000_000
ROWS_AT_ONCE = 1000
ROWS_WRITTEN_AT_ONCE = 100

# Folder → its exporter and the permission of staff to read it.
_exporters: dict[str, tuple[Exporter, str]] = {}

PROFILE = (
    "id", "external_id", "email", "username", "first_name", "last_name", "bio", "language", "created_at",
    "last_seen_at", "username_changed_at", "email_verified_at", "blocked_at", "blocked_until",
    "blocked_reason", "erase_after", "password_reset_at", "second_password_hint",
    "second_password_changed_at", "who_can_message", "read_receipts", "show_last_seen",
    "relay_calls", "is_staff", "last_login",
)  # fmt: skip
SESSION = (
    "id", "device_name", "ip", "user_agent", "opened_by", "created_at", "last_used_at", "expires_at", "ended_at",
    "ended_reason",
)  # fmt: skip
TRUSTED_DEVICE = ("id", "device_name", "created_at", "last_used_at", "expires_at")
EMAIL_CHANGE = ("old_email", "new_email", "created_at", "confirmed_at", "undone_at")
ONE_TIME_TOKEN = ("kind", "action", "created_at", "expires_at", "used_at")


def file_name(username: str, suffix: str = "") -> str:
    """The name of the archive, for example parley-ada-2026-11-23.zip."""
    return "-".join(filter(None, (slugify(project.PRODUCT_NAME), username, suffix))) + ".zip"


def register(folder: str, exporter: Exporter, *, staff_permission: str = "") -> None:
    """Registers the exporter of another app; called from its AppConfig.ready().

    `exporter(user_id)` yields (name of a file, value): bytes are written as they are, an iterator as a JSON list
    whose rows are never all in memory, all else as JSON, into `folder` of the zip. Staff need `staff_permission` to
    get this folder of another user.
    """
    _exporters[folder] = (exporter, staff_permission)


def export(*, user: User, action_token: OneTimeToken) -> IO[bytes]:
    """Returns the zip for a user with an action token, and consumes the token."""
    action_tokens.consume(action_token)
    return archive(user_id=user.id)


def archive(*, user_id: int, reader: User | None = None) -> IO[bytes]:
    """The zip of all data of a user, as a file positioned at its start; the caller closes it.

    A staff member as `reader` does not get the folders that they may not read. UserNotFound.
    """
    exporters = {"account": _account} | {
        folder: exporter
        for folder, (exporter, permission) in _exporters.items()
        if reader is None or not permission or reader.has_perm(permission)
    }
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 (the caller closes it)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for folder, exporter in exporters.items():
            for name, value in exporter(user_id):
                if isinstance(value, Iterator):
                    _write_rows(zipped, f"{folder}/{name}", value)
                else:
                    zipped.writestr(f"{folder}/{name}", value if isinstance(value, bytes) else _json(value))
    file.seek(0)
    return file


def rows(queryset: QuerySet[Any], *fields: str) -> Iterator[dict[str, Any]]:
    """Rows of a table for an exporter: these fields, oldest first."""
    return queryset.order_by("id").values(*fields).iterator(ROWS_AT_ONCE)


def _account(user_id: int) -> Files:
    user = User.objects.filter(id=user_id).first()
    if user is None:
        raise UserNotFound
    profile = {name: getattr(user, name) for name in PROFILE}
    profile["language"] = language_tag(user.language)
    profile["two_step_enabled"] = user.two_step_enabled
    profile["recovery_codes_left"] = user.recovery_codes.unused().count()
    profile["exported_at"] = timezone.now()
    yield "profile.json", profile
    yield "sessions.json", rows(Session.objects.filter(user=user), *SESSION)
    yield "trusted_devices.json", rows(TrustedDevice.objects.filter(user=user), *TRUSTED_DEVICE)
    yield "email_changes.json", rows(EmailChange.objects.filter(user=user), *EMAIL_CHANGE)
    blocks = [
        {
            "blocked_id": block.blocked_id,
            "blocked__username": None if block.card_is_hidden else block.blocked.username,  # type: ignore[attr-defined]
            "created_at": block.created_at,
        }
        for block in blocks_made_by(user.id).order_by("id")
    ]
    yield "blocks.json", blocks
    yield "unfinished_steps.json", rows(OneTimeToken.objects.filter(user=user), *ONE_TIME_TOKEN)
    yield "log.json", rows(AuditEntry.objects.filter(target=user), "action", "reason", "created_at")
    for picture in Image.objects.filter(owner=user, kind=Image.Kind.AVATAR):
        if (content := pictures.content_of(picture)) is not None:
            yield f"avatar-{picture.id}.{picture.mime.rsplit('/', 1)[-1]}", content


def _write_rows(zipped: zipfile.ZipFile, name: str, items: Iterator[Any]) -> None:
    """Writes a JSON list in parts: a user may have a million rows."""
    # As `writestr` makes it; `open` with a name alone dates the file to 1980.
    info = zipfile.ZipInfo(name, timezone.localtime().timetuple()[:6])
    info.compress_type = zipped.compression
    info.external_attr = 0o600 << 16
    separator = b"[\n  "
    with zipped.open(info, "w") as file:
        while batch := list(islice(items, ROWS_WRITTEN_AT_ONCE)):
            # Without the brackets of this part of the list.
            file.write(separator + _json(batch)[len(b"[\n  ") : -len(b"\n]")])
            separator = b",\n  "
        file.write(b"[]" if separator.startswith(b"[") else b"\n]")


def _json(value: Any) -> bytes:
    return json.dumps(value, default=_as_json, ensure_ascii=False, indent=2).encode()


def _as_json(value: Any) -> Any:
    return json_time(value) if isinstance(value, datetime) else DjangoJSONEncoder().default(value)
