"""The signed paths of images, and who may see which image.

A signed path works without a token, so that a plain `<img>` can use it. Each kind of image has a rule for other
requests, which the app that uses the kind registers.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

if TYPE_CHECKING:
    from accounts.models import Image

SIGNATURE_DAYS = 2

# (the image, the id of the signed-in user or None, whether the path is signed) → whether it is shown.
Rule = Callable[["Image", int | None, bool], bool]

_rules: dict[str, Rule] = {}


def register(kind: str, rule: Rule) -> None:
    """Sets who may see the images of a kind; called from AppConfig.ready()."""
    _rules[kind] = rule


def is_visible(image: "Image", *, viewer_id: int | None, signed: bool) -> bool:
    """Whether a request with a signed path, or of this user, may see the image."""
    rule = _rules.get(image.kind)
    return rule is not None and rule(image, viewer_id, signed)


def avatar_is_visible(_image: "Image", viewer_id: int | None, signed: bool) -> bool:
    """Every signed-in user may see an avatar."""
    return signed or viewer_id is not None


def media_path(token: str, *, thumb: bool = False) -> str:
    """The path an `<img>` can use: the same all day, good for one to two days."""
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    expires = str(int((midnight + timedelta(days=SIGNATURE_DAYS)).timestamp()))
    return f"{_prefix()}{token}{'/thumb' if thumb else ''}?e={expires}&s={_signature(token, thumb, expires)}"


def signature_is_valid(token: str, *, thumb: bool, query: Mapping[str, str]) -> bool:
    """Whether the query is as `media_path` wrote it for this image, and has not expired. An added or changed parameter
    makes it invalid."""
    if query.keys() != {"e", "s"} or not constant_time_compare(query["s"], _signature(token, thumb, query["e"])):
        return False
    return timezone.now().timestamp() < int(query["e"])


@cache
def _prefix() -> str:
    return reverse("accounts:media", args=["-"]).removesuffix("-")


def _signature(token: str, thumb: bool, expires: str) -> str:
    value = f"{token}|{'thumb' if thumb else 'full'}|{expires}"
    return salted_hmac("accounts.images.access", value, algorithm="sha256").hexdigest()[:40]
