"""Renders the body of a success. Kept apart from errors.py: DRF resolves renderers while its views
module is still loading, so nothing here may import rest_framework views."""

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import JSONRenderer


class EnvelopeRenderer(JSONRenderer):
    """Adds `ok: true` to every body that does not say `ok` itself."""

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
        return super().render(data, "application/json", renderer_context)
