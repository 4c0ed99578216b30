"""Confirmed admin actions: a page with the consequences and a form, then confirm or cancel; and downloads."""

import csv
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, cast

from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from rest_framework.exceptions import APIException

from accounts.conf import REASON_LENGTH
from accounts.exceptions import UserNotFound
from accounts.models import User
from accounts.staff.links import page_path, row_path
from accounts.staff.lists import StaffAdmin
from core.characters import is_invisible
from core.commands import as_text
from core.validators import refuse_invisible

MAX_NAMES = 10
NOTHING_LEFT = _("What you selected no longer exists. Nothing was changed.")


class NoChange(Exception):
    """The row already has the requested state, or cannot get it. The text says which."""


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=REASON_LENGTH,
        widget=forms.TextInput,
        validators=[refuse_invisible],
        help_text=_("The user can read this reason: it is part of the export of their data."),
    )


class NoForm(forms.Form):
    """The form of actions that need a confirmation only."""


Perform = Callable[[User, Any, dict[str, Any]], object]
OnSuccess = Callable[[admin.ModelAdmin, HttpRequest, list[Any], dict[str, Any]], HttpResponse]


@dataclass(kw_only=True, eq=False)
class ConfirmedAction:
    """An admin action with a confirmation page: its consequences and a form.

        block = ConfirmedAction(label=_("Block"), permission="accounts.block_user", …)

    The same action is a button on the page of a row. A list and a page show it to staff with the permission.
    """

    label: str | Promise
    permission: str
    consequences: Sequence[str | Promise]
    # Called for each row with the staff member, the row and the values of the form. NoChange and what a service refuses
    # are shown.
    perform: Perform
    form_class: type[forms.Form] = ReasonForm
    max_rows: int = 500
    # Answers with a page of its own instead of the list.
    on_success: OnSuccess | None = None
    # Shown in red.
    is_dangerous: bool = False
    # Whether the page of a row has the button: for this row, and for this row and staff member.
    is_offered: Callable[[Any], bool] = lambda row: True
    is_allowed: Callable[[Any, User], bool] = lambda row, by: True
    # What the button of a row is called, where that depends on the row.
    label_of: Callable[[Any], str | Promise | None] = lambda row: None
    # The reason that a list shows for rows without the button, which it skips. Without a text it does not skip them.
    refusal: str | Promise = ""
    # Shown beside the row; if it changed while the page was open, the page is shown again.
    state_of: Callable[[Any], str] = lambda row: ""
    name: str = field(init=False)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def short_description(self) -> str | Promise:
        """What the admin calls it in its list of actions."""
        return self.label

    def label_for(self, row: Any) -> str | Promise:
        return self.label_of(row) or self.label

    def is_button_for(self, row: Any, by: User) -> bool:
        return self.is_offered(row) and self.is_allowed(row, by)

    def __call__(self, page: StaffAdmin, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        """Shows the confirmation page, or performs what was confirmed there. None leads back to the list."""
        if not request.user.has_perm(self.permission):
            messages.error(request, _("You do not have permission to do this."))
            return None
        rows = list(queryset[: self.max_rows + 1])
        if not rows:
            messages.warning(request, NOTHING_LEFT)
            return None
        if len(rows) > self.max_rows:
            text = ngettext("Please select only %(most)d row.", "Please select at most %(most)d rows.", self.max_rows)
            messages.error(request, text % {"most": self.max_rows})
            return None
        states = [self.state_of(row) for row in rows]
        seen = sha256("\n".join(states).encode()).hexdigest()
        is_confirmed = request.POST.get("confirmed") == "1"
        form = self.form_class(request.POST if is_confirmed else None)
        if is_confirmed and request.POST.get("seen", seen) != seen:
            messages.warning(
                request,
                _("What you selected has changed meanwhile. Nothing was done; please check it and confirm again."),
            )
        elif is_confirmed and form.is_valid():
            return self._apply(page, request, rows, form.cleaned_data)
        context = {
            **page.admin_site.each_context(request),
            "title": self.label_for(rows[0]) if len(rows) == 1 else self.label,
            "opts": page.opts,
            "rows": [(row.pk, page.display_name(row), state) for row, state in zip(rows, states, strict=True)],
            "seen": seen,
            "consequences": self.consequences,
            "form": form,
            "action": self.name,
            "is_dangerous": self.is_dangerous,
            "row_page": _row_page(page, request, rows),
            "came_from": request.POST.get("came_from", ""),
            "media": page.media,
        }
        return TemplateResponse(request, "admin/confirmed_action.html", context)

    def _apply(
        self, page: StaffAdmin, request: HttpRequest, rows: list[Any], data: dict[str, Any]
    ) -> HttpResponse | None:
        done = []
        refused: dict[tuple[int, str], list[str]] = {}
        for row in rows:
            try:
                if self.refusal and not self.is_offered(row):
                    raise NoChange(self.refusal)
                self.perform(cast(User, request.user), row, data)
                done.append(row)
            except NoChange as no_change:
                refused.setdefault((messages.WARNING, str(no_change)), []).append(page.display_name(row))
            except APIException as error:
                refused.setdefault((messages.ERROR, str(error.detail)), []).append(page.display_name(row))
            except ObjectDoesNotExist:  # removed since the list was read
                refused.setdefault((messages.WARNING, str(NOTHING_LEFT)), []).append(page.display_name(row))
        for (level, text), names in refused.items():
            # A notice for each row, unless they would fill the page.
            for each in names if len(names) <= MAX_NAMES else [_first_of(names)]:
                messages.add_message(request, level, f"{each}: {text}")
        if done and self.on_success is not None:
            try:
                return self.on_success(page, request, done, data)
            except UserNotFound as error:
                messages.error(request, str(error.detail))
        elif done:
            names = [page.display_name(row) for row in done]
            details = {"action": self.label, "rows": _first_of(names)}
            messages.success(request, _("Done: %(action)s – %(rows)s") % details)
        row_page = _row_page(page, request, rows)
        # Without its row, as after a removal, the list is the place to return to.
        is_there = _other_page(page, request) or page.model._base_manager.filter(pk=rows[0].pk).exists()
        return HttpResponseRedirect(row_page) if row_page and is_there else None


def _first_of(names: list[str]) -> str:
    return ", ".join(names[:MAX_NAMES] + ["…"] * (len(names) > MAX_NAMES))


def _row_page(page: admin.ModelAdmin, request: HttpRequest, rows: list[Any]) -> str:
    """The page whose button started the action, of its row or another one; empty for actions of the list."""
    if "from_row" not in request.POST or len(rows) != 1:
        return ""
    return _other_page(page, request) or page_path(page, "change", rows[0].pk)


def place_of(row: Model) -> str:
    """The name of a row's page in the field `came_from` of a button for another row."""
    return f"{row._meta.label}:{row.pk}"


def _other_page(page: admin.ModelAdmin, request: HttpRequest) -> str:
    """The path of the page that `came_from` names; empty without one that this staff member may view."""
    label, _colon, key = request.POST.get("came_from", "").partition(":")
    if not key:
        return ""
    try:
        model = apps.get_model(label)
    except (LookupError, ValueError):
        return ""
    return row_path(model, key, page.admin_site, request)


MAX_ROWS = 10_000
# Spreadsheets treat a cell that starts with one of these as a formula, some also in their full-width form.
FORMULA_STARTS = ("=", "+", "-", "@")
# Ends of a cell or a row in spreadsheets of other languages, which do not heed the quotes of a file with commas.
CELL_ENDS = re.compile(r"([;\t\r\n])")
DOWNLOAD_LABELS = {"csv": _("Download as CSV"), "json": _("Download as JSON")}


def _cell(value: Any) -> str:
    """A text that is not a formula in any spreadsheet, neither as a whole nor in parts."""
    parts = CELL_ENDS.split("" if value is None else as_text(value))
    parts[::2] = map(_harmless, parts[::2])
    text = "".join(parts)
    return f"'{text}" if CELL_ENDS.match(text) else text


def _harmless(text: str) -> str:
    # Some spreadsheets remove invisible characters at the beginning, which reveals a formula.
    seen = next((one for one in text if not is_invisible(one) and unicodedata.category(one)[0] not in "CZ"), "")
    start = unicodedata.normalize("NFKC", seen)
    return f"'{text}" if start.startswith(FORMULA_STARTS) else text


def download(
    page: admin.ModelAdmin, rows: Iterable[dict[str, Any]], columns: tuple[str, ...], kind: str
) -> HttpResponse:
    """A file of these rows, `csv` or `json`; formulas in cells are made harmless."""
    response = HttpResponse(content_type="application/json" if kind == "json" else "text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{page.opts.model_name}.{kind}"'
    if kind == "json":
        response.write(json.dumps(list(rows), default=as_text, ensure_ascii=False, indent=1))
        return response
    # A byte order mark: without it, spreadsheets do not recognise UTF-8.
    response.write("\ufeff")
    writer = csv.writer(response)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row[column]) for column in columns])
    return response


@dataclass(eq=False)
class DownloadAction:
    """An action that downloads the selected rows at once, for data without a need for a reason."""

    kind: str
    columns: tuple[str, ...]
    permission: str

    @property
    def short_description(self) -> str | Promise:
        """What the admin calls it in its list of actions."""
        return DOWNLOAD_LABELS[self.kind]

    def __call__(self, page: admin.ModelAdmin, request: HttpRequest, queryset: QuerySet) -> HttpResponse:
        return download(page, queryset.values(*self.columns)[:MAX_ROWS], self.columns, self.kind)
