"""Images in an S3 bucket: django-storages with time limits, whose failures are raised as OSError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files import File
from storages.backends.s3 import S3Storage

CONNECT_SECONDS, READ_SECONDS, ATTEMPTS = 2, 10, 2
# Larger pictures go to a temporary file.
IN_MEMORY_BYTES = 8_388_608


@contextmanager
def _as_os_error() -> Iterator[None]:
    """Context manager and decorator."""
    try:
        yield
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if status == 404:
            raise FileNotFoundError("the object does not exist") from error
        raise OSError(f"the object store answered {status}") from error
    except BotoCoreError as error:
        raise OSError(f"the object store does not answer ({error.__class__.__name__})") from error


class BucketStorage(S3Storage):
    """A private bucket. Every failure is an OSError; a missing object is a FileNotFoundError."""

    def get_default_settings(self) -> dict[str, Any]:
        retries = {"total_max_attempts": ATTEMPTS, "mode": "standard"}
        limits = Config(
            connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS, retries=retries, signature_version="s3v4"
        )
        # Redirects to an object are valid for a minute; nothing is readable without a signature.
        defaults = {"default_acl": None, "querystring_expire": 60, "file_overwrite": True, "client_config": limits}
        return super().get_default_settings() | defaults

    def _open(self, name: str, mode: str = "rb") -> File:
        """Reads the whole object at once: a failure in the middle of a reply could not be reported."""
        content = SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115  (the caller closes the file)
        with _as_os_error(), super()._open(name, mode) as source:
            for chunk in source.chunks():
                content.write(chunk)
        content.seek(0)
        return File(content, name)

    _save = _as_os_error()(S3Storage._save)
    delete = _as_os_error()(S3Storage.delete)
    exists = _as_os_error()(S3Storage.exists)
    size = _as_os_error()(S3Storage.size)
    listdir = _as_os_error()(S3Storage.listdir)
    get_modified_time = _as_os_error()(S3Storage.get_modified_time)
