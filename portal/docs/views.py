"""The pages of the documentation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
    OpenApiYamlRenderer2,
)
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from portal.development.demo import demo_logins
from portal.docs import contents, markdown, realtime, reference, search
from portal.docs.openapi import errors, texts
from portal.pages import is_developer, page, shown_if


def documented(request: HttpRequest, template: str, name: str, **context: Any) -> HttpResponse:
    """A page of the documentation; `name` is marked in the navigation.

    `headings`, pairs of anchor and title, are listed beside the page.
    """
    before, after = contents.neighbours(name)
    shared = {"groups": contents.GROUPS, "current": name, "before": before, "after": after}
    return page(request, template, **shared | context)


def document(request: HttpRequest, name: str, *, title: str, text: str) -> HttpResponse:
    """A Markdown text as a page."""
    shown = markdown.document(text)
    headings = [(heading.anchor, heading.title) for heading in shown.headings if heading.level == 2]
    return documented(request, "document", name, title=title, body=shown.html, headings=headings)


documentation = shown_if(lambda request: settings.DOCS)


# The address in the quick start.
LOCAL_ADDRESS = "http://127.0.0.1:8000"
# The quick start reads codes from the local mailbox, which exists on a developer's machine only.
ELSEWHERE = (
    "> These steps read the mailed code from the local mailbox. This server has none: take the code from your mail.\n"
)


@documentation
def index(request: HttpRequest) -> HttpResponse:
    return documented(request, "documents", "documents", logins=demo_logins(request))


@documentation
def quickstart(request: HttpRequest) -> HttpResponse:
    """The quick start with the address of this server."""
    text = contents.read("docs/guides/quickstart.md").replace(
        LOCAL_ADDRESS, request.build_absolute_uri("/").rstrip("/")
    )
    if not is_developer(request):
        title, _, rest = text.partition("\n")
        text = f"{title}\n\n{ELSEWHERE}{rest}"
    return document(request, "quickstart", title="Quick start", text=text)


@documentation
def changelog(request: HttpRequest) -> HttpResponse:
    return document(request, "changelog", title="Changelog", text=contents.read("CHANGELOG.md"))


@documentation
def guide(request: HttpRequest, page: contents.Page) -> HttpResponse:
    return document(request, page.name, title=page.title, text=page.text)


@documentation
def example(request: HttpRequest, name: str) -> HttpResponse:
    """A program of docs/examples, as a page."""
    if name not in contents.examples():
        raise Http404
    language = {"py": "python", "mjs": "js"}.get(name.rpartition(".")[2], "")
    code = markdown.code_block(contents.read(f"docs/examples/{name}"), language)
    return documented(request, "example", "example", title=name, code=code)


@documentation
def realtime_protocol(request: HttpRequest) -> HttpResponse:
    return documented(request, "realtime", "realtime", reference=realtime.reference(), headings=realtime.HEADINGS)


@documentation
def error_codes(request: HttpRequest) -> HttpResponse:
    rows = [replace(row, when=markdown.inline(row.when), remedy=markdown.inline(row.remedy)) for row in errors.rows()]
    by_status = [(f"status-{status}", str(status)) for status in sorted({row.status for row in rows})]
    return documented(request, "errors", "errors", rows=rows, headings=by_status)


@documentation
def reference_index(request: HttpRequest) -> HttpResponse:
    tags = reference.by_tag()
    headings = [(tag.name, tag.title) for tag, _ in tags]
    return documented(request, "reference", "reference", tags=tags, headings=headings)


@documentation
def reference_operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    operation = reference.operations().get(operation_id)
    if operation is None:
        raise Http404
    # Before the first one and after the last one, the pages around the reference.
    beside = {
        side: {"address": reverse("reference-operation", args=[near.id]), "title": near.summary}
        for side, near in zip(("before", "after"), reference.beside(operation_id), strict=True)
        if near
    }
    return documented(
        request,
        "operation",
        "reference",
        **beside,
        operation=operation,
        description=markdown.render(operation.description),
        snippets=markdown.tabs(operation.snippets),
        neighbours=reference.of_tag(operation.tag),
    )


@documentation
def api_docs(request: HttpRequest) -> HttpResponse:
    schema = reverse("schema") + "?format=json"
    logins = demo_logins(request)
    return documented(request, "console", "api-docs", tags=reference.by_tag(), schema_url=schema, logins=logins)


@documentation
def find(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "")[:100]
    hits = [hit | {"excerpt": search.marked(hit["excerpt"], query)} for hit in search.search(query)]
    return documented(request, "search", "search", query=query, hits=hits)


@documentation
def find_json(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"ok": True, "hits": search.search(request.GET.get("q", "")[:100])})


class SchemaView(APIView):
    """OpenAPI as JSON, or as YAML for clients that ask for it: the committed document."""

    # drf-spectacular's own view is not used. It takes half a second of CPU to generate a document that anyone may
    # request, and loads any language that the query names, which Django then keeps.
    renderer_classes = [OpenApiJsonRenderer2, OpenApiJsonRenderer, OpenApiYamlRenderer2, OpenApiYamlRenderer]
    authentication_classes = []
    permission_classes = [AllowAny]
    schema = None

    def get(self, request: Request) -> HttpResponse:
        renderer = request.accepted_renderer
        content_type = f"{renderer.media_type}; charset={renderer.charset}" if renderer.charset else renderer.media_type
        headers = {"Content-Disposition": f'inline; filename="{settings.PRODUCT_NAME}.{renderer.format}"'}
        return HttpResponse(_rendered(renderer.format), content_type=content_type, headers=headers)


@cache
def _rendered(format: str) -> bytes:
    renderer = next(renderer() for renderer in SchemaView.renderer_classes if renderer.format == format)
    rendered = renderer.render(texts.document(), renderer_context={})
    return rendered if isinstance(rendered, bytes) else rendered.encode()
