"""Images and the permission to see them."""

from typing import TYPE_CHECKING

from accounts.selectors import image_by_token
from messaging.models import Message

if TYPE_CHECKING:
    from accounts.models import Image


def picture_for(viewer_id: int | None, token: str, *, signed: bool) -> "Image | None":
    """The image with this token, for a request with a signed path or a user who may see it.

    Every signed-in user may see an avatar; a participant may see the image of a message while the
    message is visible to them. None in all other cases.
    """
    picture = image_by_token(token)
    if picture is None:
        return None
    if picture.kind == picture.Kind.AVATAR:
        return picture if signed or viewer_id is not None else None
    messages = Message.objects.not_deleted() if signed else Message.objects.visible_to(viewer_id)
    return picture if messages.filter(image=picture).exists() else None
