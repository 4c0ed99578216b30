"""What every page of the admin has in common: lists that stay fast, actions that ask first."""

import csv
import json
from collections.abc import Callable, Iterable
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import ManyToManyField, Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import Promise, cached_property
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import APIException

from accounts.models import User
from accounts.services import audit

COUNTED_AT_MOST = 10_000
EXPORTED_AT_MOST = 10_000
NAMED_AT_MOST = 10
# A spreadsheet takes a cell that starts like this for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class LargeTablePaginator(Paginator):
    """Counts to ten thousand and no further: count(*) over a million rows takes a tenth of a second."""

    @cached_property
    def count(self) -> int:
        return len(self.object_list.order_by().values_list("pk")[:COUNTED_AT_MOST])  # type: ignore[attr-defined]


class StaffAdmin(admin.ModelAdmin):
    """Rows are looked at, not written: what changes something is an action or a service."""

    paginator = LargeTablePaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # each would count the whole table
    list_per_page = 50
    list_max_show_all = 200
    actions_on_bottom = True

    def __getattr__(self, name: str) -> Any:
        """Django asks `has_<codename>_permission` before it shows an action: all ours are permissions of the app."""
        if name.startswith("has_") and name.endswith("_permission"):
            codename = name.removeprefix("has_").removesuffix("_permission")
            return lambda request: request.user.has_perm(f"{self.opts.app_label}.{codename}")
        raise AttributeError(name)

    def named(self, row: Model) -> str:
        """What a row is called where people read it: by itself, or "session 7 (ann_x2y3z)"."""
        if not self.list_select_related:
            return str(row)
        people = [getattr(row, field) for field in self.list_select_related or ()]  # type: ignore[union-attr]
        names = ", ".join(str(person) for person in people if person is not None)
        return f"{self.opts.verbose_name} {row.pk}" + (f" ({names})" if names else "")

    def audit_label(self, row: Model) -> str:
        """What the audit log calls a row that it is about; empty where it is never about such rows."""
        return ""

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        row = context["original"]
        if row is not None:
            title = capfirst(self.opts.verbose_name)
            context |= {"title": title, "subtitle": self.named(row), "audit_label": self.audit_label(row)}
        return super().render_change_form(request, context, *args, **options)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        # Django passes over an action that somebody may not do; whoever asks for it shall hear no.
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


class AuditedAdmin(StaffAdmin):
    """Rows that a superuser writes in a form, which asks why."""

    # Django's two boxes with arrows keep people with a screen reader out.
    formfield_overrides = {ManyToManyField: {"widget": forms.CheckboxSelectMultiple}}

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> None:  # type: ignore[override]
        self._record(request, obj, "added", message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> None:  # type: ignore[override]
        self._record(request, obj, "changed", message)

    def _record(self, request: HttpRequest, row: Model, what: str, message: Any) -> None:
        audit.record(
            action=f"{self.opts.model_name}.{what}",
            actor=cast(User, request.user),
            target=row if isinstance(row, User) else None,
            target_label=self.audit_label(row),
            reason=request.POST.get("reason", ""),
            now=self.worth_keeping(row),
        )

    def worth_keeping(self, row: Model) -> dict[str, Any]:
        """How the row stands after the change, for the audit log."""
        return {}


class ReasonModelForm(forms.ModelForm):
    reason = forms.CharField(label=_("Reason"), max_length=500, help_text=_("Kept in the audit log."))


class NothingToDo(Exception):
    """An action met a row that is already as it should be, or cannot become so; the text says which."""


class ReasonForm(forms.Form):
    reason = forms.CharField(label=_("Reason"), max_length=500, widget=forms.TextInput)


class NoForm(forms.Form):
    """For actions that need no more than a yes."""


Act = Callable[[User, Any, dict[str, Any]], None]
Then = Callable[[admin.ModelAdmin, HttpRequest, list[Any]], HttpResponse]
Effects = Callable[[QuerySet], Iterable[str | Promise]]


def asked_action(
    *,
    name: str,
    label: str | Promise,
    permission: str,
    effects: Effects,
    act: Act,
    form_class: type[forms.Form] = ReasonForm,
    at_most: int = 500,
    then: Then | None = None,
) -> Callable[[StaffAdmin, HttpRequest, QuerySet], HttpResponse | None]:
    """An admin action with a page between: what it will do, a form, then yes or back.

    `act(staff_member, row, cleaned_data)` is called for each row; NothingToDo and what a service refuses are shown.
    `then(admin, request, rows)` answers with a page of its own instead of the list.
    """

    def action(self: StaffAdmin, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        if not request.user.has_perm(permission):
            messages.error(request, _("You may not do this."))
            return None
        rows = list(queryset[: at_most + 1])
        if len(rows) > at_most:
            messages.error(request, _("Please choose at most %(most)d rows.") % {"most": at_most})
            return None
        confirmed = request.POST.get("confirmed") == "1"
        form = form_class(request.POST if confirmed else None)
        if confirmed and form.is_valid():
            done = []
            for row in rows:
                try:
                    act(cast(User, request.user), row, form.cleaned_data)
                    done.append(row)
                except NothingToDo as nothing:
                    messages.warning(request, f"{self.named(row)}: {nothing}")
                except APIException as error:
                    messages.error(request, f"{self.named(row)}: {error.detail}")
            if done and then is not None:
                return then(self, request, done)
            if done:
                names = [self.named(row) for row in done[:NAMED_AT_MOST]] + ["…"] * (len(done) > NAMED_AT_MOST)
                said = {"action": label, "count": len(done), "rows": ", ".join(names)}
                messages.success(request, _("%(action)s: done for %(count)d: %(rows)s.") % said)
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": label,
            "opts": self.opts,
            "rows": [(row.pk, self.named(row)) for row in rows],
            "effects": list(effects(queryset)),
            "form": form,
            "action": name,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/asked_action.html", context)

    action.__name__ = name
    action.short_description = label  # type: ignore[attr-defined]
    codename = permission.rsplit(".", 1)[-1]
    action.allowed_permissions = (codename,)  # type: ignore[attr-defined]
    return action


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def download(
    page: admin.ModelAdmin, rows: Iterable[dict[str, Any]], columns: tuple[str, ...], kind: str
) -> HttpResponse:
    """A file of these rows, `csv` or `json`; formulas in cells are made harmless."""
    response = HttpResponse(content_type="application/json" if kind == "json" else "text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{page.opts.model_name}.{kind}"'
    if kind == "json":
        response.write(json.dumps(list(rows), default=str, ensure_ascii=False, indent=1))
        return response
    writer = csv.writer(response)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row[column]) for column in columns])
    return response


DOWNLOAD_LABELS = {"csv": _("Download as CSV"), "json": _("Download as JSON")}


def asked_download(*, kind: str, columns: tuple[str, ...], permission: str, effects: Effects, act: Act) -> Any:
    """An action that asks why, tells the audit log by `act`, and downloads the chosen rows."""

    def file_of(page: admin.ModelAdmin, request: HttpRequest, rows: list[Any]) -> HttpResponse:
        return download(page, ({name: getattr(row, name) for name in columns} for row in rows), columns, kind)

    return asked_action(
        name=f"download_{kind}",
        label=DOWNLOAD_LABELS[kind],
        permission=permission,
        effects=effects,
        act=act,
        then=file_of,
    )


def download_action(*, kind: str, columns: tuple[str, ...], permission: str) -> Any:
    """An action that downloads the chosen rows at once: for what whoever sees the list may keep anyway."""

    def action(self: admin.ModelAdmin, request: HttpRequest, queryset: QuerySet) -> HttpResponse:
        return download(self, queryset.values(*columns)[:EXPORTED_AT_MOST], columns, kind)

    action.__name__ = f"download_{kind}"
    action.short_description = DOWNLOAD_LABELS[kind]  # type: ignore[attr-defined]
    action.allowed_permissions = (permission.rsplit(".", 1)[-1],)  # type: ignore[attr-defined]
    return action
