"""A form with one image, refused by its length before it is read completely."""

from collections.abc import Mapping
from typing import IO, Any

from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler
from rest_framework.parsers import MultiPartParser

from core.exceptions import FileTooLarge
from core.images import MAX_BYTES

# Beside the file a form holds a text of at most 4096 characters and a few short fields.
MAX_FORM_BYTES = MAX_BYTES + 65_536


class _Counted(FileUploadHandler):
    """Stops the upload at the first byte over the limit."""

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        if start + len(raw_data) > MAX_BYTES:
            raise FileTooLarge
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


class PictureFormParser(MultiPartParser):
    """multipart/form-data with a `file` of at most 5 MB. FileTooLarge for more."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        request = (parser_context or {})["request"]
        try:
            length = int(request.META.get("CONTENT_LENGTH") or 0)
        except ValueError:
            length = 0
        if length > MAX_FORM_BYTES:
            raise FileTooLarge
        request.upload_handlers = [_Counted(request), TemporaryFileUploadHandler(request)]
        return super().parse(stream, media_type, parser_context)
