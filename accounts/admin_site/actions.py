"""Confirmed admin actions: a page with the consequences and a form, then confirm or cancel; and downloads."""

import csv
import json
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import APIException

from accounts.admin_site.lists import StaffAdmin
from accounts.models import User

MAX_NAMES = 10


class NoChange(Exception):
    """The row has the requested state already, or cannot get it; the text says which."""


class ReasonForm(forms.Form):
    reason = forms.CharField(label=_("Reason"), max_length=500, widget=forms.TextInput)


class NoForm(forms.Form):
    """The form of actions that need a confirmation only."""


Perform = Callable[[User, Any, dict[str, Any]], object]
OnSuccess = Callable[[admin.ModelAdmin, HttpRequest, list[Any], dict[str, Any]], HttpResponse]


def _first_of(names: list[str]) -> str:
    return ", ".join(names[:MAX_NAMES] + ["…"] * (len(names) > MAX_NAMES))


def _row_page(page: admin.ModelAdmin, request: HttpRequest, rows: list[Any]) -> str:
    """The page of the row whose button started the action; empty for actions of the list."""
    if "from_row" not in request.POST or len(rows) != 1:
        return ""
    return reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_change", args=[rows[0].pk])


def confirmed_action(
    *,
    name: str,
    label: str | Promise,
    permission: str,
    consequences: Sequence[str | Promise],
    perform: Perform,
    form_class: type[forms.Form] = ReasonForm,
    max_rows: int = 500,
    on_success: OnSuccess | None = None,
    is_dangerous: bool = False,
    is_offered: Callable[[Any], bool] = lambda row: True,
    is_allowed: Callable[[Any, User], bool] = lambda row, by: True,
    refusal: str | Promise = "",
    state_of: Callable[[Any], str] = lambda row: "",
) -> Callable[[StaffAdmin, HttpRequest, QuerySet], HttpResponse | None]:
    """An admin action with a confirmation page: its consequences and a form.

    `perform(staff_member, row, cleaned_data)` is called for each row; NoChange and what a service refuses are shown.
    `on_success(admin, request, rows, cleaned_data)` answers with a page of its own instead of the list. The same action
    is a button on the page of a row, where `is_offered(row)` and `is_allowed(row, staff_member)`; in a list, rows for which
    it is not offered are left alone if there is a `refusal`, which says why. A dangerous action is red.
    `state_of(row)` is shown beside the row; if it changed while the page was open, the page is shown again.
    """

    @admin.action(description=cast(str, label))
    def action(self: StaffAdmin, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        if not request.user.has_perm(permission):
            messages.error(request, _("You do not have permission to do this."))
            return None
        rows = list(queryset[: max_rows + 1])
        if not rows:
            messages.warning(request, _("What you selected no longer exists. Nothing was changed."))
            return None
        row_page = _row_page(self, request, rows)
        if len(rows) > max_rows:
            messages.error(request, _("Please select at most %(most)d rows.") % {"most": max_rows})
            return None
        states = [state_of(row) for row in rows]
        seen = sha256("\n".join(states).encode()).hexdigest()
        confirmed = request.POST.get("confirmed") == "1"
        form = form_class(request.POST if confirmed else None)
        if confirmed and request.POST.get("seen", seen) != seen:
            messages.warning(
                request,
                _("What you selected has changed meanwhile. Nothing was done; please check it and confirm again."),
            )
        elif confirmed and form.is_valid():
            done = []
            refused: dict[tuple[int, str], list[str]] = {}
            for row in rows:
                try:
                    if refusal and not is_offered(row):
                        raise NoChange(refusal)
                    perform(cast(User, request.user), row, form.cleaned_data)
                    done.append(row)
                except NoChange as no_change:
                    refused.setdefault((messages.WARNING, str(no_change)), []).append(self.display_name(row))
                except APIException as error:
                    refused.setdefault((messages.ERROR, str(error.detail)), []).append(self.display_name(row))
            for (level, text), names in refused.items():
                # A notice for each row, unless they would fill the page.
                for each in names if len(names) <= MAX_NAMES else [_first_of(names)]:
                    messages.add_message(request, level, f"{each}: {text}")
            if done and on_success is not None:
                return on_success(self, request, done, form.cleaned_data)
            if done:
                names = [self.display_name(row) for row in done]
                details = {"action": label, "count": len(done), "rows": _first_of(names)}
                messages.success(request, _("“%(action)s” was applied to: %(rows)s. Total: %(count)d.") % details)
            # Without its row, as after a removal, the list is the place to return to.
            if row_page and self.model._base_manager.filter(pk=request.POST[ACTION_CHECKBOX_NAME]).exists():
                return HttpResponseRedirect(row_page)
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": label,
            "opts": self.opts,
            "rows": [(row.pk, self.display_name(row), state) for row, state in zip(rows, states, strict=True)],
            "seen": seen,
            "consequences": consequences,
            "form": form,
            "action": name,
            "is_dangerous": is_dangerous,
            "row_page": row_page,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/confirmed_action.html", context)

    action.__name__ = name
    cast(Any, action).permission = permission
    cast(Any, action).is_dangerous = is_dangerous
    cast(Any, action).is_button_for = lambda row, by: is_offered(row) and is_allowed(row, by)
    return action


MAX_ROWS = 10_000
# Spreadsheets treat a cell that starts with one of these as a formula, some also in their full-width form.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
DOWNLOAD_LABELS = {"csv": _("Download as CSV"), "json": _("Download as JSON")}


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if unicodedata.normalize("NFKC", text[:1]).startswith(FORMULA_STARTS) else text


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


def download_action(*, kind: str, columns: tuple[str, ...], permission: str) -> Any:
    """An action that downloads the selected rows at once, for data without a need for a reason."""

    @admin.action(description=DOWNLOAD_LABELS[kind])
    def action(self: admin.ModelAdmin, request: HttpRequest, queryset: QuerySet) -> HttpResponse:
        return download(self, queryset.values(*columns)[:MAX_ROWS], columns, kind)

    action.__name__ = f"download_{kind}"
    cast(Any, action).permission = permission
    return action
