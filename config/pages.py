"""Pages for people: the landing page, the documents, and what only the person at this machine may see."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
    OpenApiYamlRenderer2,
)
from drf_spectacular.views import SpectacularAPIView

from config import demo, error_reference, mailbox, markdown, realtime_reference, reference
from config.access import is_developer

QUICK_START = "From sign-up to the first message"
README_ADDRESS = "http://127.0.0.1:8000"


def page(request: HttpRequest, template: str, **context: Any) -> HttpResponse:
    return render(request, f"pages/{template}.html", {"developer": is_developer(request), **context})


def document(request: HttpRequest, *, title: str, text: str) -> HttpResponse:
    return page(request, "document", title=title, body=markdown.render(text))


def read(name: str) -> str:
    return (settings.BASE_DIR / name).read_text(encoding="utf-8")


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    return page(request, "landing", logins=demo.known() if is_developer(request) else [])


@require_safe
def quickstart(request: HttpRequest) -> HttpResponse:
    # The README is the one source; here its blocks carry the address of this very server.
    text = markdown.section(read("README.md"), QUICK_START)
    text = text.replace(README_ADDRESS, request.build_absolute_uri("/").rstrip("/"))
    return document(request, title="Quick start", text=f"# Quick start\n\n{text}")


@require_safe
def changelog(request: HttpRequest) -> HttpResponse:
    return document(request, title="Changes", text=read("CHANGELOG.md"))


@require_safe
def realtime(request: HttpRequest) -> HttpResponse:
    return page(request, "realtime", reference=realtime_reference.reference())


class SchemaView(SpectacularAPIView):
    """OpenAPI as JSON; as YAML for whoever asks for that."""

    renderer_classes = [OpenApiJsonRenderer2, OpenApiJsonRenderer, OpenApiYamlRenderer2, OpenApiYamlRenderer]


# Documents that are shown as they stand in docs/.
GUIDES = {
    "calls": "Calls",
    "deployment": "Deployment",
    "operations": "Operations",
    "push": "Push messages",
    "security": "Security",
    "sizing": "Sizing",
    "upgrading": "Upgrading",
}


@require_safe
def guide(request: HttpRequest, name: str) -> HttpResponse:
    return document(request, title=GUIDES[name], text=read(f"docs/{name}.md"))


@require_safe
def errors(request: HttpRequest) -> HttpResponse:
    rows = [
        {
            "code": row.code,
            "status": row.status,
            "when": markdown.inline(row.when),
            "remedy": markdown.inline(row.remedy),
        }
        for row in error_reference.rows()
    ]
    return page(request, "errors", rows=rows)


@require_safe
def reference_index(request: HttpRequest) -> HttpResponse:
    return page(request, "reference", operations=list(reference.operations().values()))


@require_safe
def reference_operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    operation = reference.operations().get(operation_id)
    if operation is None:
        raise Http404
    return page(request, "operation", operation=operation, description=markdown.render(operation.description))


@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    return page(request, "api_docs", schema_url=reverse("schema") + "?format=json")


def developers_only(request: HttpRequest) -> None:
    if not is_developer(request):
        raise Http404


@require_safe
@never_cache
def dev_mail(request: HttpRequest) -> HttpResponse:
    developers_only(request)
    to = request.GET.get("to", "")
    return page(request, "mailbox", to=to, mails=mailbox.mails(to=to))


@require_safe
@never_cache
def dev_mail_json(request: HttpRequest) -> HttpResponse:
    developers_only(request)
    found = mailbox.mails(to=request.GET.get("to", ""))
    fields = ("to", "subject", "text", "code", "created_at")
    return JsonResponse({"ok": True, "mails": [{name: getattr(mail, name) for name in fields} for mail in found]})


@require_safe
@never_cache
def dev_push(request: HttpRequest) -> HttpResponse:
    developers_only(request)
    return page(request, "outbox", pushes=mailbox.pushes())


@require_safe
@never_cache
def dev_push_json(request: HttpRequest) -> HttpResponse:
    developers_only(request)
    return JsonResponse({"ok": True, "pushes": [push.payload for push in mailbox.pushes()]})
