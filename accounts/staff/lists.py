"""What every page of the admin has in common: lists that stay fast, actions that ask first."""

import csv
import json
from collections.abc import Callable, Iterable
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import Promise, cached_property
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import APIException

from accounts.models import User

COUNTED_AT_MOST = 10_000
EXPORTED_AT_MOST = 10_000
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

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


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
) -> Callable[[admin.ModelAdmin, HttpRequest, QuerySet], HttpResponse | None]:
    """An admin action with a page between: what it will do, a form, then yes or back.

    `act(staff_member, row, cleaned_data)` is called for each row; an ApiError of a service is shown.
    `then(admin, request, rows)` answers with a page of its own instead of the list.
    """

    def action(self: admin.ModelAdmin, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
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
                except APIException as error:
                    messages.error(request, f"{row}: {error.detail}")
            if done and then is not None:
                return then(self, request, done)
            if done:
                messages.success(request, _("Done for %(count)d.") % {"count": len(done)})
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": label,
            "opts": self.opts,
            "rows": rows,
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


def export_action(*, name: str, columns: tuple[str, ...], permission: str, as_json: bool) -> Any:
    """An admin action that downloads the chosen rows; formulas in cells are made harmless."""

    def action(self: admin.ModelAdmin, request: HttpRequest, queryset: QuerySet) -> HttpResponse:
        rows = queryset.values(*columns)[:EXPORTED_AT_MOST]
        kind = "json" if as_json else "csv"
        file_name = f"{self.opts.model_name}.{kind}"
        response = HttpResponse(content_type="application/json" if as_json else "text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{file_name}"'
        if as_json:
            response.write(json.dumps(list(rows), default=str, ensure_ascii=False, indent=1))
            return response
        writer = csv.writer(response)
        writer.writerow(columns)
        for row in rows:
            writer.writerow([_cell(row[column]) for column in columns])
        return response

    action.__name__ = name
    action.short_description = _("Download as JSON") if as_json else _("Download as CSV")  # type: ignore[attr-defined]
    action.allowed_permissions = (permission.rsplit(".", 1)[-1],)  # type: ignore[attr-defined]
    return action
