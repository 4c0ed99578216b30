"""The bytes of a picture: for whoever may see it, or for whoever holds the signature of its path."""

from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage
from django.http import FileResponse, HttpResponse, HttpResponseBase, HttpResponseRedirect
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from accounts.authentication import BearerAuthentication, bearer_token
from accounts.exceptions import ApiError, NotFound
from accounts.images import signature_is_valid
from accounts.services import pictures
from messaging import selectors


class SignatureOrBearer(BearerAuthentication):
    """Anonymous without an Authorization header: then the signature in the path must do.

    It does beside a token that is no longer good, too: either of the two opens the picture.
    """

    def authenticate(self, request):  # type: ignore[no-untyped-def, override]
        if bearer_token(request) is None:
            return None
        try:
            return super().authenticate(request)
        except ApiError:
            if "s" not in request.query_params:
                raise
            return None


class MediaViewSet(ViewSet):
    authentication_classes = [SignatureOrBearer]
    permission_classes = []

    @extend_schema(
        operation_id="media_get",
        parameters=[OpenApiParameter("e", str), OpenApiParameter("s", str)],
        responses={(200, "image/*"): OpenApiTypes.BINARY},
    )
    def full(self, request: Request, token: str) -> HttpResponseBase:
        return self._bytes(request, token, thumb=False)

    @extend_schema(
        operation_id="media_get_thumb",
        parameters=[OpenApiParameter("e", str), OpenApiParameter("s", str)],
        responses={(200, "image/*"): OpenApiTypes.BINARY},
    )
    def thumb(self, request: Request, token: str) -> HttpResponseBase:
        return self._bytes(request, token, thumb=True)

    def _bytes(self, request: Request, token: str, *, thumb: bool) -> HttpResponseBase:
        signed = signature_is_valid(
            token,
            thumb=thumb,
            expires=request.query_params.get("e", ""),
            signature=request.query_params.get("s", ""),
        )
        viewer_id = request.user.id if request.user else None
        picture = selectors.picture_for(viewer_id, token, signed=signed)
        if picture is None:
            raise NotFound
        name = pictures.file_name(picture.token, picture.mime, thumb=thumb)
        response = _file(name, picture.mime)
        response["Cache-Control"] = "private, max-age=86400"
        response["X-Content-Type-Options"] = "nosniff"
        response["Content-Security-Policy"] = "sandbox; default-src 'none'"
        response["Content-Disposition"] = f'inline; filename="{name.rsplit("/", 1)[-1]}"'
        return response


def _file(name: str, mime: str) -> HttpResponseBase:
    if not isinstance(default_storage, FileSystemStorage) and not hasattr(default_storage, "path"):
        return HttpResponseRedirect(default_storage.url(name))
    if settings.MEDIA_SENDFILE:
        response = HttpResponse(content_type=mime)
        response["X-Accel-Redirect"] = f"{settings.MEDIA_SENDFILE.rstrip('/')}/{name}"
        return response
    try:
        return FileResponse(default_storage.open(name), content_type=mime)
    except FileNotFoundError as error:
        raise NotFound from error
