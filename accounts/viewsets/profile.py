"""The user's own profile, avatar, privacy settings and blocked users."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import selectors
from accounts.conf import conf
from accounts.images import pictures
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
)
from accounts.services import profile
from core.api.pagination import CURSOR, Limit, decode_cursor, page
from core.api.parsers import PictureFormParser
from core.api.serializers import OkReply, checked
from core.api.throttles import UPLOADS, Throttle, throttles, user
from core.ids import parse_id

BLOCKS = Limit(conf.BLOCKS_PAGE, conf.BLOCKS_PAGE_MAX)


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
        return Response(AvatarReply.render(user))

    @extend_schema(operation_id="profile_avatar_remove", request=None, responses=AvatarReply)
    def remove(self, request: Request) -> Response:
        pictures.remove_avatar(user=request.user)
        return Response({"avatar_url": None})
