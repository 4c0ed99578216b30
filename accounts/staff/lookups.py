"""Limits the query string of a list to the columns that it shows and the filters that it declares.

Django accepts any column of the table in the query string, with any lookup: values of a hidden column could be
guessed letter by letter through filters.
"""

from datetime import MAXYEAR, date, datetime
from typing import Any

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.contrib.admin.utils import get_fields_from_path
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.core.validators import validate_ipv46_address
from django.db import models
from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest

EXACT = "exact"
RANGES = frozenset({"gt", "gte", "lt", "lte"})
IS_NULL = "isnull"
BOOLEANS = frozenset({"0", "1", "true", "false"})
MAX_TEXT = 254
MAX_SEARCH = 200
MAX_SEARCH_WORDS = 10
# A database adds a time zone to a day, which overflows in the first and the last year of the calendar.
FIRST_YEAR, LAST_YEAR = 1000, MAXYEAR - 1
COMPARABLE = (
    models.BooleanField,
    models.CharField,
    models.DateField,
    models.GenericIPAddressField,
    models.IntegerField,
    models.TextField,
    models.UUIDField,
)


class ShownColumnsOnly(admin.ModelAdmin):
    """Looks up only what the list shows, by exact value or range; never by a pattern, never across a relation."""

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        filters = [kind for kind in self.get_list_filter(request) if isinstance(kind, type)]
        if lookup in {kind.parameter_name for kind in filters if issubclass(kind, SimpleListFilter)}:
            return _is_text(str(value))
        path, _, operator = lookup.rpartition(LOOKUP_SEP)
        if operator not in {EXACT, IS_NULL, *RANGES}:
            path, operator = lookup, EXACT
        field = self._shown_fields(request).get(path)
        return field is not None and can_compare(field, str(value), operator)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """None for a key that the database cannot compare, such as one with a NUL."""
        return super().get_object(request, object_id, from_field) if can_compare(self.opts.pk, object_id) else None

    def to_field_allowed(self, request: HttpRequest, to_field: str) -> bool:
        return to_field == self.opts.pk.name

    def get_search_results(
        self, request: HttpRequest, queryset: models.QuerySet, search_term: str
    ) -> tuple[models.QuerySet, bool]:
        # Every word becomes a condition, and databases limit how deep conditions nest.
        if len(search_term) > MAX_SEARCH or len(search_term.split()) > MAX_SEARCH_WORDS:
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    def _shown_fields(self, request: Any) -> dict[str, models.Field]:
        """The columns that the list shows or declares a filter for, by each name that a query string may use."""
        filtered = [kind[0] if isinstance(kind, tuple | list) else kind for kind in self.get_list_filter(request)]
        names = {self.opts.pk.name, *self.list_display, *filtered}
        fields: dict[str, models.Field] = {}
        for name in names:
            if isinstance(name, str) and (field := _field_at(self.model, name)):
                fields[name] = field
                if isinstance(field, models.ForeignKey):
                    fields[field.attname] = fields[f"{name}{LOOKUP_SEP}{field.target_field.name}"] = field
        return fields


def _field_at(model: type[models.Model], path: str) -> models.Field | None:
    try:
        field = get_fields_from_path(model, path)[-1]
    except FieldDoesNotExist:
        return None  # a column that is computed
    return field if isinstance(field, models.Field) else None


def can_compare(field: models.Field, value: str, operator: str = EXACT) -> bool:
    """Whether both databases can compare this column with this value."""
    if operator == IS_NULL:
        return value.lower() in BOOLEANS
    if isinstance(field, models.ForeignKey):
        if operator != EXACT:
            return False
        field = field.target_field
    if not isinstance(field, COMPARABLE) or not _is_text(value):
        return False
    try:
        parsed = field.to_python(value)
        if isinstance(field, models.GenericIPAddressField):
            # Its conversion takes any text; PostgreSQL takes addresses only.
            validate_ipv46_address(value)
    except (ValidationError, ValueError, OverflowError):
        return False
    if isinstance(parsed, datetime | date):
        return FIRST_YEAR <= parsed.year <= LAST_YEAR
    if isinstance(parsed, int):
        return -(2**63) <= parsed < 2**63
    return parsed is not None


def _is_text(value: str) -> bool:
    return len(value) <= MAX_TEXT and "\x00" not in value
