"""Texts without lone surrogates, and the names of rows on the support pages."""

import re

from django.db.models import Model

_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot encode: an error may quote what the client sent."""
    return text.encode("utf-8", "replace").decode()


def is_encodable(text: str) -> bool:
    """Whether the text has no lone surrogates, which UTF-8 cannot encode and databases refuse."""
    return _SURROGATE.search(text) is None


def row_name(row: Model) -> str:
    """The name of a row on the support pages, as a model's `__str__`: "session 7", not "Session object (7)"."""
    return f"{row._meta.verbose_name} {row.pk}"
