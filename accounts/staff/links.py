"""Links from one support page to another, for staff who may view the page behind the link."""

from typing import Any

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.admin.utils import quote
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html


def page_path(page: ModelAdmin, view: str, *args: Any) -> str:
    """The path of a list (`changelist`), or of the page of one of its rows (`change`)."""
    return reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_{view}", args=args)


def visible_page(model: type[Model], site: AdminSite, request: HttpRequest) -> ModelAdmin | None:
    """The pages of a model, if there are any and this staff member may view them."""
    page = site._registry.get(model)
    return page if page is not None and page.has_view_permission(request) else None


def row_path(model: type[Model], key: Any, site: AdminSite, request: HttpRequest) -> str:
    """The path of the page of a row; empty where this staff member may not view it."""
    page = visible_page(model, site, request)
    return page_path(page, "change", quote(key)) if page is not None and key is not None else ""


def link(text: Any, model: type[Model], key: Any, site: AdminSite, request: HttpRequest) -> str:
    """The text as a link to the page of a row; the text alone where this staff member may not view it."""
    path = row_path(model, key, site, request)
    return format_html('<a href="{}">{}</a>', path, text) if path else str(text)


def link_to(row: Model, site: AdminSite, request: HttpRequest) -> str:
    """The name of a row as a link to its page."""
    return link(row, type(row), row.pk, site, request)
