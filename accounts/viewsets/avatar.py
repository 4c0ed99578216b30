"""The user's own avatar."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import person
from accounts.permissions import IsVerified
from accounts.serializers.users import AvatarOutput, PictureInput, avatar_url
from accounts.services import pictures
from core.throttles import UPLOADS, throttles
from core.uploads import PictureFormParser
from core.validation import checked


class AvatarViewSet(ViewSet):
    permission_classes = [IsVerified]
    parser_classes = [PictureFormParser]

    @throttles(UPLOADS)
    @extend_schema(
        operation_id="profile_avatar_set",
        request={"multipart/form-data": PictureInput},
        responses=AvatarOutput,
    )
    def set(self, request: Request) -> Response:
        form = checked(PictureInput, request)
        user = pictures.set_avatar(user=person(request), upload=form["file"])
        return Response({"avatar_url": avatar_url(user)})

    @extend_schema(operation_id="profile_avatar_remove", request=None, responses=AvatarOutput)
    def remove(self, request: Request) -> Response:
        pictures.remove_avatar(user=person(request))
        return Response({"avatar_url": None})
