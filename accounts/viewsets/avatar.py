"""One's own picture."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import ratelimits
from accounts.authentication import person
from accounts.permissions import IsVerified
from accounts.serializers import avatar_url
from accounts.serializers.inputs import checked
from accounts.serializers.pictures import AvatarOutput, PictureInput
from accounts.services import pictures
from accounts.uploads import PictureFormParser


class AvatarViewSet(ViewSet):
    permission_classes = [IsVerified]
    parser_classes = [PictureFormParser]

    @extend_schema(
        operation_id="profile_avatar_set",
        request={"multipart/form-data": PictureInput},
        responses=AvatarOutput,
    )
    def set(self, request: Request) -> Response:
        ratelimits.check("media", str(person(request).id))
        form = checked(PictureInput, request)
        user = pictures.set_avatar(user=person(request), upload=form["file"])
        return Response({"avatar_url": avatar_url(user)})

    @extend_schema(operation_id="profile_avatar_remove", request=None, responses=AvatarOutput)
    def remove(self, request: Request) -> Response:
        pictures.remove_avatar(user=person(request))
        return Response({"avatar_url": None})
