"""The pages of the documentation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe
from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
    OpenApiYamlRenderer2,
)
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from config.openapi import errors, texts
from config.site import contents, markdown, realtime, reference, search
from config.site.shell import demo_logins, document, documentation, documented, is_developer

QUICK_START = "From sign-up to the first message"
README_ADDRESS = "http://127.0.0.1:8000"
# The quick start reads codes from the local mailbox, which exists on a developer's machine only.
ELSEWHERE = "\n> This walk reads the mailed codes from the local mailbox. This server has none: take the codes from your mail.\n\n"


@documentation
def index(request: HttpRequest) -> HttpResponse:
    return documented(request, "documents", "documents", logins=demo_logins(request))


@documentation
def quickstart(request: HttpRequest) -> HttpResponse:
    # The text is that of the README, with the address of this server.
    text = markdown.section(contents.read("README.md"), QUICK_START)
    text = text.replace(README_ADDRESS, request.build_absolute_uri("/").rstrip("/"))
    note = "" if is_developer(request) else ELSEWHERE
    return document(request, "quickstart", title="Quick start", text=f"# Quick start\n\n{note}{text}")


@documentation
def changelog(request: HttpRequest) -> HttpResponse:
    return document(request, "changelog", title="Changelog", text=contents.read("CHANGELOG.md"))


@documentation
def guide(request: HttpRequest, page: contents.Page) -> HttpResponse:
    return document(request, page.name, title=page.title, text=page.text)


@documentation
def realtime_protocol(request: HttpRequest) -> HttpResponse:
    return documented(request, "realtime", "realtime", reference=realtime.reference())


@documentation
def error_codes(request: HttpRequest) -> HttpResponse:
    rows = [replace(row, when=markdown.inline(row.when), remedy=markdown.inline(row.remedy)) for row in errors.rows()]
    return documented(request, "errors", "errors", rows=rows)


@documentation
def reference_index(request: HttpRequest) -> HttpResponse:
    return documented(request, "reference", "reference", tags=reference.by_tag())


@documentation
def reference_operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    operation = reference.operations().get(operation_id)
    if operation is None:
        raise Http404
    return documented(
        request,
        "operation",
        "reference",
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
    return documented(request, "search", "search", query=query, hits=search.search(query))


@documentation
def find_json(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"ok": True, "hits": search.search(request.GET.get("q", "")[:100])})


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect(static("pages/icon.svg"))


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    return HttpResponse(
        "User-agent: *\nDisallow: /api/\nDisallow: /admin/\nDisallow: /app/\n", content_type="text/plain"
    )


class SchemaView(APIView):
    """OpenAPI as JSON, or as YAML for clients that ask for it: the committed document."""

    # Not drf-spectacular's view: it takes half a second of CPU to generate the document, which anyone may ask for, and
    # loads any language that the query names, which Django then keeps.
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
