"""The user's own profile, avatar, privacy settings and blocked users; and the images of all users, for those who may see
them and for requests with a signed path.
"""

from typing import Any

from django.core.files.storage import FileSystemStorage, default_storage
from django.http import FileResponse, HttpResponse, HttpResponseBase, HttpResponseRedirect
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import media, selectors
from accounts.authentication import SignatureOrBearer
from accounts.conf import conf
from accounts.permissions import IsVerified
from accounts.serializers.users import (
    AvatarReply,
    BlockReply,
    BlockSerializer,
    BlocksReply,
    BlockUserInput,
    PrivacyReply,
    PrivacySerializer,
    ProfileReply,
    ProfileSerializer,
    SetAvatarInput,
    UpdatePrivacyInput,
    UpdateProfileInput,
    avatar_url,
)
from accounts.services import pictures, profile
from core.conf import project
from core.exceptions import NotFound, ServiceUnavailable
from core.pagination import CURSOR, Limit, decode_cursor, page
from core.parsers import PictureFormParser
from core.renderers import FileNegotiation
from core.serializers import OkReply, checked
from core.text import parse_id
from core.throttles import UPLOADS, Throttle, throttles, user

BLOCKS = Limit(conf.BLOCKS_PAGE, conf.BLOCKS_PAGE_MAX)
STORE_RETRY_SECONDS = 5
IMAGE: dict[str, Any] = {
    "parameters": [OpenApiParameter("e", str), OpenApiParameter("s", str)],
    "responses": {(200, "image/*"): OpenApiTypes.BINARY},
}


class ProfileViewSet(ViewSet):
    @extend_schema(operation_id="profile_get", responses=ProfileReply)
    def get(self, request: Request) -> Response:
        return Response({"profile": ProfileSerializer.render(request.user)})

    @extend_schema(operation_id="profile_update", request=UpdateProfileInput, responses=ProfileReply)
    def update(self, request: Request) -> Response:
        data = checked(UpdateProfileInput, request.data)
        user = profile.update(user=request.user, **data)
        return Response({"profile": ProfileSerializer.render(user)})


class PrivacyViewSet(ViewSet):
    @extend_schema(operation_id="profile_privacy_get", responses=PrivacyReply)
    def get(self, request: Request) -> Response:
        return Response({"privacy": PrivacySerializer.render(request.user)})

    @extend_schema(operation_id="profile_privacy_set", request=UpdatePrivacyInput, responses=PrivacyReply)
    def set(self, request: Request) -> Response:
        data = checked(UpdatePrivacyInput, request.data)
        user = profile.set_privacy(user=request.user, **data)
        return Response({"privacy": PrivacySerializer.render(user)})


class BlockViewSet(ViewSet):
    permission_classes = [IsVerified]

    @extend_schema(operation_id="profile_blocks_list", parameters=[BLOCKS.parameter, CURSOR], responses=BlocksReply)
    def list(self, request: Request) -> Response:
        query = request.query_params
        cursor = decode_cursor(query.get("cursor"))
        rows, following = selectors.blocks_page(request.user.id, limit=BLOCKS.of(query), cursor=cursor)
        return Response(page(following, blocks=[BlockSerializer.render(row) for row in rows]))

    @throttles(Throttle("block", by=user))
    @extend_schema(operation_id="profile_blocks_add", request=BlockUserInput, responses=BlockReply)
    def add(self, request: Request) -> Response:
        data = checked(BlockUserInput, request.data)
        row = profile.block(blocker=request.user, blocked_id=data["user_id"])
        return Response({"block": BlockSerializer.render(row)})

    @extend_schema(operation_id="profile_blocks_remove", request=None, responses=OkReply)
    def remove(self, request: Request, user_id: str) -> Response:
        profile.unblock(blocker=request.user, blocked_id=parse_id(user_id))
        return Response()


class AvatarViewSet(ViewSet):
    permission_classes = [IsVerified]
    parser_classes = [PictureFormParser]

    @throttles(UPLOADS)
    @extend_schema(
        operation_id="profile_avatar_set", request={"multipart/form-data": SetAvatarInput}, responses=AvatarReply
    )
    def set(self, request: Request) -> Response:
        data = checked(SetAvatarInput, request.data)
        user = pictures.set_avatar(user=request.user, upload=data["file"])
        return Response({"avatar_url": avatar_url(user)})

    @extend_schema(operation_id="profile_avatar_remove", request=None, responses=AvatarReply)
    def remove(self, request: Request) -> Response:
        pictures.remove_avatar(user=request.user)
        return Response({"avatar_url": None})


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
        signed = media.signature_is_valid(token, thumb=thumb, query=request.query_params)
        viewer_id = request.user.id if request.user else None
        picture = selectors.image_by_token(token)
        if picture is None or not media.is_visible(picture, viewer_id=viewer_id, signed=signed):
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
