"""Chooses the form of a reply and renders the body of a success. Kept apart from errors.py: DRF resolves
renderers while its views module is still loading, so nothing here may import rest_framework views."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import IO, Any

import orjson
from django.http import FileResponse
from django.http.response import HttpResponseBase
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from core.times import json_time


def archive(file: IO[bytes], *, filename: str) -> FileResponse:
    """A zip download that must not be cached."""
    response = FileResponse(file, as_attachment=True, filename=filename, content_type="application/zip")
    response["Cache-Control"] = "no-store"
    return response


class ContentNegotiation(DefaultContentNegotiation):
    """Skips DRF's slow negotiation, unless a request chooses between several types."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        if (
            self._accepts(request) in ("*/*", first.media_type)
            and not format_suffix
            and not request.META.get("QUERY_STRING")
        ):
            return first, str(first.media_type)
        return super().select_renderer(request, renderers, format_suffix)

    def get_accept_list(self, request: Request) -> list[str]:
        return [media_type.strip() for media_type in self._accepts(request).split(",")]

    @staticmethod
    def _accepts(request: Request) -> str:
        """An empty header accepts any type."""
        return request.META.get("HTTP_ACCEPT", "").strip() or "*/*"


class FileNegotiation(ContentNegotiation):
    """For views that answer with a file: it has one type, whatever the client accepts. Their errors are JSON."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, str(first.media_type)


# Replies are written by orjson, requests are read by the standard library: docs/decisions/serving.md#0078
class EnvelopeRenderer(JSONRenderer):
    """Adds `ok: true` to every body that does not say `ok` itself.

    orjson writes it: the JSON of a page of messages takes it a tenth of the time of the standard library.
    """

    _rest_default = staticmethod(JSONRenderer.encoder_class().default)

    @classmethod
    def _default(cls, value: Any) -> Any:
        return json_time(value) if isinstance(value, datetime) else cls._rest_default(value)

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        if data is None:
            data = {}
        if isinstance(data, dict) and "ok" not in data:
            data = {"ok": True, **data}
        return orjson.dumps(data, default=self._default, option=orjson.OPT_PASSTHROUGH_DATETIME)


def break_cycles(response: HttpResponseBase) -> None:
    """Call when a reply is complete: its view, request and body are freed with the last reference to them.

    The REST framework makes the three refer to each other, so they would stay in memory until the garbage collector
    finds them. Its work is a twentieth of the CPU of a small request.
    """
    context = getattr(response, "renderer_context", None)
    if context:
        vars(context["view"]).clear()
        context["request"].parser_context.clear()
        context.clear()
