"""Serves an image to a user who may see it, or to a request with a signed path."""

from typing import Any

from django.core.files.storage import FileSystemStorage, default_storage
from django.http import FileResponse, HttpResponse, HttpResponseBase, HttpResponseRedirect
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignatureOrBearer
from accounts.images import access, pictures
from accounts.selectors import image_by_token
from core.api.exceptions import NotFound, ServiceUnavailable
from core.api.renderers import FileNegotiation
from core.conf import project

STORE_RETRY_SECONDS = 5
IMAGE: dict[str, Any] = {
    "parameters": [OpenApiParameter("e", str), OpenApiParameter("s", str)],
    "responses": {(200, "image/*"): OpenApiTypes.BINARY},
}


class MediaViewSet(ViewSet):
    authentication_classes = [SignatureOrBearer]
    permission_classes = []
    content_negotiation_class = FileNegotiation

    @extend_schema(operation_id="media_get", **IMAGE)
    def full(self, request: Request, token: str) -> HttpResponseBase:
        return self._bytes(request, token, thumb=False)

    @extend_schema(operation_id="media_get_thumb", **IMAGE)
    def thumb(self, request: Request, token: str) -> HttpResponseBase:
        return self._bytes(request, token, thumb=True)

    def _bytes(self, request: Request, token: str, *, thumb: bool) -> HttpResponseBase:
        signed = access.signature_is_valid(token, thumb=thumb, query=request.query_params)
        viewer_id = request.user.id if request.user else None
        picture = image_by_token(token)
        if picture is None or not access.is_visible(picture, viewer_id=viewer_id, signed=signed):
            raise NotFound
        name = pictures.file_name(picture.token, picture.mime, thumb=thumb)
        response = _file(name, picture.mime)
        # The link of a redirect is valid for a minute only.
        response["Cache-Control"] = "no-store" if response.status_code == 302 else "private, max-age=86400"
        response["X-Content-Type-Options"] = "nosniff"
        response["Content-Security-Policy"] = "sandbox; default-src 'none'"
        response["Content-Disposition"] = f'inline; filename="{name.rsplit("/", 1)[-1]}"'
        return response


def _file(name: str, mime: str) -> HttpResponseBase:
    in_folder = isinstance(default_storage, FileSystemStorage)
    if project.MEDIA_REDIRECT and not in_folder:
        return HttpResponseRedirect(default_storage.url(name))
    if project.MEDIA_SENDFILE and in_folder:
        response = HttpResponse(content_type=mime)
        response["X-Accel-Redirect"] = f"{project.MEDIA_SENDFILE.rstrip('/')}/{name}"
        return response
    try:
        return FileResponse(default_storage.open(name), content_type=mime)
    except FileNotFoundError as error:
        raise NotFound from error
    except OSError as error:
        raise ServiceUnavailable(retry_after=STORE_RETRY_SECONDS) from error
