"""Images and the permission to see them."""

from typing import TYPE_CHECKING, Any

from django.db.models import F

from messaging.models import Message

if TYPE_CHECKING:
    from accounts.models import Image

Picture: Any = Message._meta.get_field("image").related_model


def picture_for(viewer_id: int | None, token: str, *, signed: bool) -> "Image | None":
    """The image with this token, for a request with a signed path or a user who may see it.

    Every signed-in user may see an avatar; a participant may see the image of a message while the
    message is visible to them. None in all other cases.
    """
    if not token.isascii() or not token.isprintable():
        return None  # PostgreSQL refuses a NUL in a text
    picture = Picture.objects.filter(token=token[:32]).first()
    if picture is None:
        return None
    if picture.kind == Picture.Kind.AVATAR:
        return picture if signed or viewer_id is not None else None
    messages = Message.objects.filter(image=picture, deleted_at=None)
    if not signed:
        messages = messages.filter(
            conversation__participants__user_id=viewer_id,
            conversation__participants__cleared_up_to_id__lt=F("id"),
        )
    return picture if messages.exists() else None
