"""Base classes of the admin: fast lists and read-only rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import Any, cast

from django import forms
from django.apps import apps
from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import get_fields_from_path, label_for_field, lookup_field
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.paginator import Paginator
from django.db.models import ForeignKey, ManyToManyField, Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.functional import Promise, cached_property
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from accounts.conf import REASON_LENGTH
from accounts.models import User
from accounts.services import audit
from accounts.staff.links import link
from accounts.staff.lookups import ShownColumnsOnly, can_compare
from accounts.staff.overview import EMPTY, MAX_COUNT, Chart, Figure, Panel, Task
from core.validators import refuse_invisible


class LargeTablePaginator(Paginator):
    """Counts to ten thousand and no further: count(*) over a million rows takes a tenth of a second."""

    @cached_property
    def count(self) -> int:
        return len(cast(QuerySet, self.object_list).order_by().values_list("pk")[:MAX_COUNT])


class ChoiceFilter(SimpleListFilter):
    """A filter of a list: for each choice its value, its label, and the rows that it keeps."""

    options: tuple[tuple[str, str | Promise, Callable[[Any], QuerySet]], ...]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(value, label) for value, label, _keep in self.options]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        return next((keep(queryset) for value, _label, keep in self.options if value == self.value()), queryset)


class KnownValuesFilter(admin.AllValuesFieldListFilter):
    """A filter by a column whose values the code knows. Django's own reads them from the whole table."""

    # The values, with their names.
    known: Callable[[], Mapping[str, str | Promise]]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.names = self.known()
        self.lookup_choices: Any = list(self.names)

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield {**choice, "display": self.names.get(str(choice["display"]), choice["display"])}


@dataclass
class LinkedColumn:
    """A column that shows a row of another list as a link to its page; Django takes it for a function of a row."""

    page: admin.ModelAdmin
    column: str
    model: type[Model]
    # The attribute with the key of the other row.
    key: str
    admin_order_field: str | None
    # Not compared: Django asks for the columns of a list more than once, and looks for the same ones.
    request: HttpRequest = field(compare=False)

    def __post_init__(self) -> None:
        self.__name__ = self.column
        self.short_description = label_for_field(self.column, self.page.model, self.page)

    def __hash__(self) -> int:
        return hash(self.column)

    def __call__(self, row: Model) -> str:
        """The link, or what stands for an empty column."""
        _field, _attribute, value = lookup_field(self.column, row, self.page)
        if value is None:
            return self.page.get_empty_value_display()
        return link(value, self.model, getattr(row, self.key), self.page.admin_site, self.request)


class StaffAdmin(ShownColumnsOnly):
    """A read-only admin: changes go through actions, which call services."""

    task = Task.OTHER
    # Leads its task on the index page.
    leads_task = False
    # What the list adds to the index page and to the page of a user.
    figures: tuple[Figure, ...] = ()
    chart: Chart | None = None
    panel: Panel | None = None
    # Columns that name a row of another list and are not a relation to it: its model, and the attribute with its key.
    links: Mapping[str, tuple[str, str]] = MappingProxyType({})

    empty_value_display = EMPTY
    ordering: tuple[str, ...] = ("-id",)
    paginator = LargeTablePaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # each would count the whole table
    list_per_page = 50
    list_max_show_all = 200
    actions_on_bottom = True

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """The actions that this staff member may do, by the permission that each names."""
        actions: dict[str, Any] = super().get_actions(request)
        return {name: action for name, action in actions.items() if request.user.has_perm(action[0].permission)}

    def display_name(self, row: Model) -> str:
        """The display name of a row: its own, or "session 7 (ann_x2y3z)"."""
        if not self.list_select_related:
            return str(row)
        people = [getattr(row, field) for field in cast(tuple[str, ...], self.list_select_related)]
        names = ", ".join(str(person) for person in people if person is not None)
        return f"{self.opts.verbose_name} {row.pk}" + (f" ({names})" if names else "")

    def audit_label(self, row: Model) -> str:
        """The name of a row in the audit log; empty for models that are not audited."""
        return ""

    @property
    def search_help_text(self) -> str:  # type: ignore[override]
        """What the search box compares; in sync with `search_fields`."""
        columns = [get_fields_from_path(self.model, path.lstrip("=^@")) for path in self.search_fields]
        names = [" – ".join(str(field.verbose_name) for field in column) for column in columns]
        return str(_("Exact match on: %(columns)s")) % {"columns": ", ".join(names)}

    def linked(self, column: Any, request: HttpRequest) -> Any:
        """The column; if it names a row of another list, the LinkedColumn in its place."""
        own = next((own for own in self.opts.concrete_fields if own.name == column), None)
        if column in self.links:
            label, key = self.links[column]
            return LinkedColumn(self, column, apps.get_model(label), key, own.name if own else None, request)
        if isinstance(own, ForeignKey):
            return LinkedColumn(self, column, own.related_model, own.attname, own.name, request)
        return column

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [self.linked(column, request) for column in super().get_list_display(request)]

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        if self.has_change_permission(request, obj):
            return fieldsets
        return [
            (title, {**part, "fields": [self.linked(name, request) for name in part["fields"]]})
            for title, part in fieldsets
        ]

    def row_actions(self, request: HttpRequest, row: Model) -> list[dict[str, Any]]:
        """The confirmed actions that this staff member may do on the page of this row."""
        return [
            {"name": name, "label": action.label_for(row), "is_dangerous": action.is_dangerous}
            for action, name, _label in self.get_actions(request).values()
            if hasattr(action, "is_button_for") and action.is_button_for(row, request.user)
        ]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        row = context["original"]
        if row is not None:
            title = capfirst(self.opts.verbose_name)
            context |= {"title": title, "subtitle": self.display_name(row), "audit_label": self.audit_label(row)}
            context["row_actions"] = self.row_actions(request, row)
        return super().render_change_form(request, context, *args, **options)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if not all(can_compare(self.opts.pk, value) for value in request.POST.getlist(ACTION_CHECKBOX_NAME)):
            raise BadRequest
        # Django ignores an action without permission; the request must be refused instead.
        if set(request.POST.getlist("action")) - {"", *self.get_actions(request)}:
            raise PermissionDenied
        # Django's own title puts the name into a sentence, where many languages would have to inflect it.
        title = {"title": capfirst(self.opts.verbose_name_plural)}
        return super().changelist_view(request, title | (extra_context or {}))

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        raise Http404  # what staff did is in the audit log

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class _ExistingRows(forms.ModelMultipleChoiceField):
    """Refuses keys that the database cannot compare; Django checks their type only."""

    def clean(self, value: Any) -> Any:
        for key in value or ():
            if not can_compare(cast(QuerySet, self.queryset).model._meta.pk, key):
                raise forms.ValidationError(self.error_messages["invalid_pk_value"], params={"pk": key})
        return super().clean(value)


class AuditedAdmin(StaffAdmin):
    """Rows that a superuser edits in a form, which asks for a reason."""

    # Django's widget with two boxes cannot be used with a screen reader.
    formfield_overrides = {ManyToManyField: {"widget": forms.CheckboxSelectMultiple, "form_class": _ExistingRows}}

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        """A change locks its row, so that the second of two concurrent changes sees the first one."""
        rows = super().get_queryset(request)
        is_change = request.method == "POST" and getattr(request.resolver_match, "url_name", "").endswith("_change")
        return rows.select_for_update(no_key=True) if is_change else rows

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        if not (self.has_change_permission(request, obj) if obj else self.has_add_permission(request)):
            return fieldsets
        *others, (title, last) = fieldsets
        return [*others, (title, {**last, "fields": (*last["fields"], "reason", "seen")})]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        # A form that shows the row again is not bound, so Django leaves out its errors.
        context["errors"] = context["errors"] or context["adminform"].form.errors
        return super().render_change_form(request, context, *args, **options)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Writes only the columns that the form changes: a password or a block may have been set since the row was read."""
        columns = {field.name for field in self.opts.concrete_fields}
        obj.save(update_fields=columns.intersection(form.changed_data) if change else None)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self._record(request, obj, "added")

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self._record(request, obj, "changed")

    def _record(self, request: HttpRequest, row: Model, what: str) -> None:
        audit.record(
            action=f"{self.opts.model_name}.{what}",
            actor=cast(User, request.user),
            target=row if isinstance(row, User) else None,
            target_label=self.audit_label(row),
            reason=request.POST.get("reason", ""),
            now=self.audit_details(row),
        )

    def audit_details(self, row: Model) -> dict[str, Any]:
        """The state of the row after the change, for the audit log."""
        return {}


class ReasonModelForm(forms.ModelForm):
    """Asks for the reason, and refuses to overwrite what another staff member has changed since the form was opened."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=REASON_LENGTH,
        help_text=_("Kept in the audit log."),
        validators=[refuse_invisible],
    )
    # Which values the form was opened with.
    seen = forms.CharField(label="", required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.pk is not None:
            self.initial["seen"] = self._digest()

    def _digest(self) -> str:
        shown = {name: self.initial.get(name) for name in self.fields if name in self.initial}
        values = {
            name: sorted(row.pk for row in value) if isinstance(value, list) else value for name, value in shown.items()
        }
        return sha256(repr(sorted(values.items())).encode()).hexdigest()

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.data.get("seen") in (None, "", self.initial.get("seen")):
            return cleaned
        self.add_error(
            None,
            _("Another staff member has changed this meanwhile. Nothing was saved; the form shows what is there now."),
        )
        self.is_bound = False  # shows the values of the row instead of those that were sent
        return {}
