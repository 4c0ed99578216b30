"""The two kinds of bodies that the API accepts: a JSON object in UTF-8 with limited nesting, and a form with one image.

An image that is too large is refused before it is read completely.
"""

import codecs
import json
import math
import re
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import DataAndFiles, JSONParser, MultiPartParser

from core.api.exceptions import FileTooLarge
from core.images.pool import MAX_BYTES

MAX_DEPTH = 16
# A string without an end matches up to the end of the text, so that a search takes one pass. The quantifiers are
# possessive (`++`, `*+`): otherwise the engine remembers each character of a long string, in a hundred times its memory.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    """A number with a fraction or exponent; ValueError for one that is too large to be a number (1e999)."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number")
    return number


def _too_deep(text: str) -> bool:
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub("", text)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def parse_json(text: str) -> Any:
    """The JSON value in `text`; ValueError for anything else, NaN included, RecursionError for deep nesting."""
    return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`; ValueError for anything else, NaN and deep nesting included."""
    if text.count("[") + text.count("{") > MAX_DEPTH and _too_deep(text):
        raise ValueError("nested too deeply")
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


class StrictJSONParser(JSONParser):
    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            text = codecs.decode(stream.read(), "utf-8-sig")
            return parse_object(text) if text.strip() else {}
        except (ValueError, RecursionError) as error:
            raise ParseError(_("The body is not a JSON object in UTF-8.")) from error


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


# Latin-1 has a character for every byte, so the bytes can be recovered and decoded again.
_ONE_TO_ONE = "latin-1"


def _decoded(form: QueryDict, encoding: str) -> QueryDict:
    """The form that was read as Latin-1 in its own encoding. UnicodeError for bytes that are invalid in
    it, which Django would replace by question marks. LookupError for an unknown encoding."""
    decoded = QueryDict(mutable=True)
    for name, values in form.lists():
        decoded.setlist(name, [value.encode(_ONE_TO_ONE).decode(encoding) for value in values])
    return decoded


class PictureFormParser(MultiPartParser):
    """multipart/form-data with a `file` of at most 5 MB. FileTooLarge for more."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        context = dict(parser_context or {})
        request = context["request"]
        try:
            length = int(request.META.get("CONTENT_LENGTH") or 0)
        except ValueError:
            length = 0
        if length > MAX_FORM_BYTES:
            raise FileTooLarge
        request.upload_handlers = [_Counted(request), TemporaryFileUploadHandler(request)]
        try:
            form = super().parse(stream, media_type, context | {"encoding": _ONE_TO_ONE})
            return DataAndFiles(_decoded(form.data, context["encoding"]), form.files)
        except (ParseError, UnicodeError, LookupError) as error:  # their texts are technical and in English
            raise ParseError(_("The request could not be read.")) from error
