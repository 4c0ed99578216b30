"""Stores images: the files and their rows, kept consistent."""

import logging
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import IO, cast

from django.core.files.base import ContentFile
from django.core.files.storage import Storage, default_storage
from django.db import transaction
from django.utils import timezone

from accounts.models import Image, User
from accounts.services import storage_quota
from accounts.signals import profile_changed
from core.database.transactions import unit_of_work
from core.images import pool

logger = logging.getLogger("parley.pictures")

# Files younger than this may belong to a request that has not committed yet.
ORPHAN_AGE = timedelta(hours=1)


@contextmanager
def receive_upload(*, owner: User, kind: str, upload: IO[bytes]) -> Iterator[Image]:
    """Decodes an upload, writes its files, and yields its row, to be saved in a unit of work inside.

    After an error inside, or when the row was not saved, the files are removed again.
    FileTooLarge, UnsupportedMediaType, InvalidImage, ServiceUnavailable (too many are waiting); OSError when they cannot be
    stored (a full disk).
    """
    # One byte more than allowed is enough to refuse the upload.
    picture = pool.picture(upload.read(pool.MAX_BYTES + 1), avatar=kind == Image.Kind.AVATAR)
    image = Image(
        token=secrets.token_urlsafe(16),
        kind=kind,
        owner=owner,
        mime=picture.mime,
        width=picture.width,
        height=picture.height,
        size=len(picture.content),
        blurhash=picture.blurhash,
        upload_digest=picture.upload_digest,
    )
    is_stored = False
    try:
        for thumb, content in ((False, picture.content), (True, picture.thumbnail)):
            default_storage.save(file_name(image.token, image.mime, thumb=thumb), ContentFile(content))
        yield image
        is_stored = image.pk is not None
    finally:
        if not is_stored:
            _remove_files(image)


def file_name(token: str, mime: str, *, thumb: bool = False) -> str:
    """The path of the file below MEDIA_ROOT or in the object store."""
    return f"{token[:2]}/{token}{'-thumb' if thumb else ''}.{pool.EXTENSIONS[mime]}"


def content_of(image: Image) -> bytes | None:
    """The bytes of an image; None when they were removed in the meantime."""
    try:
        with default_storage.open(file_name(image.token, image.mime)) as file:
            return cast(bytes, file.read())
    except FileNotFoundError:
        return None


def discard(picture_ids: Iterable[int]) -> None:
    """Removes images: the rows now, the files after the commit. Gives their bytes back to their owners."""
    with unit_of_work():
        pictures = list(Image.objects.filter(id__in=list(picture_ids)))
        Image.objects.filter(id__in=[picture.id for picture in pictures]).delete()
        sizes: Counter[int] = Counter()
        for picture in pictures:
            if picture.kind != Image.Kind.AVATAR:
                sizes[picture.owner_id] += picture.size
        storage_quota.give_back(sizes)

        def remove_all_files() -> None:
            for picture in pictures:
                _remove_files(picture)

        # A file that cannot be removed now is an orphan, which the next purge removes. Not a partial: Django names a
        # robust function that failed, and a partial has no name.
        transaction.on_commit(remove_all_files, robust=True)


def set_avatar(*, user: User, upload: IO[bytes]) -> User:
    """Sets the avatar of a user and removes the previous one."""
    with receive_upload(owner=user, kind=Image.Kind.AVATAR, upload=upload) as image, unit_of_work():
        image.save(force_insert=True)
        return _replace_avatar(user.id, image.token)


def remove_avatar(*, user: User) -> User:
    """Removes the avatar; does nothing when there is none."""
    with unit_of_work():
        return _replace_avatar(user.id, "")


def purge_orphans(*, now: datetime | None = None) -> int:
    """Removes files without a row (left by a killed process). Returns how many."""
    before = (now or timezone.now()) - ORPHAN_AGE
    removed = 0
    try:
        folders, _ = default_storage.listdir("")
    except FileNotFoundError:
        return 0
    for folder in folders:
        names = [f"{folder}/{name}" for name in default_storage.listdir(folder)[1]]
        tokens = {name: PurePath(name).stem.removesuffix("-thumb") for name in names}
        stored = set(Image.objects.filter(token__in=set(tokens.values())).values_list("token", flat=True))
        for name in names:
            with suppress(FileNotFoundError):  # another purge has just removed it
                if tokens[name] not in stored and default_storage.get_modified_time(name) < before:
                    default_storage.delete(name)
                    removed += 1
    return removed


# Token and type of all images, for a copy of the database, too.
TOKENS = Image.objects.order_by("id").values_list("token", "mime")


def names_of(tokens: Iterable[tuple[str, str]]) -> list[str]:
    """The names of the files of images, each given as token and type."""
    return [file_name(token, mime, thumb=thumb) for token, mime in tokens for thumb in (False, True)]


def stored_names() -> list[str]:
    """The names of the files of all images."""
    return names_of(TOKENS.all().iterator())


def copy_files(*, target: Storage, ids: Iterable[int], dry_run: bool) -> tuple[int, int]:
    """Copies the image files to another storage; skips existing ones. Returns how many were copied and are missing."""
    copied = missing = 0
    for token, mime in Image.objects.filter(id__in=list(ids)).values_list("token", "mime"):
        for thumb in (False, True):
            name = file_name(token, mime, thumb=thumb)
            if _is_copied(target, name):
                continue
            try:
                with default_storage.open(name) as file:
                    if not dry_run:
                        target.delete(name)
                        target.save(name, file)
                copied += 1
            except FileNotFoundError:
                missing += 1
    return copied, missing


def _is_copied(target: Storage, name: str) -> bool:
    """Whether the storage has the whole file. One that was cut off, because its copying was interrupted, is shorter."""
    if not target.exists(name):
        return False
    try:
        return target.size(name) == default_storage.size(name)
    except FileNotFoundError:
        return True


def picture_ids() -> list[int]:
    """The ids of all images, oldest first."""
    return list(Image.objects.order_by("id").values_list("id", flat=True))


def _replace_avatar(user_id: int, token: str) -> User:
    user = User.objects.lock_active(user_id)
    if user.avatar_token == token:
        return user
    user.avatar_token = token
    user.save(update_fields=["avatar_token"])
    stale = Image.objects.filter(owner_id=user_id, kind=Image.Kind.AVATAR).exclude(token=token)
    discard(stale.values_list("id", flat=True))
    profile_changed.send(User, user_id=user_id)
    return user


def _remove_files(image: Image) -> None:
    try:
        for thumb in (False, True):
            default_storage.delete(file_name(image.token, image.mime, thumb=thumb))
    except OSError as error:
        # No row names the file any more: the purge of orphans removes it.
        logger.warning("a picture is left behind: %s", error)
