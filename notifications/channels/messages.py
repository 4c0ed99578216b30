"""The input of a push provider."""

from dataclasses import dataclass
from enum import StrEnum, auto


class Style(StrEnum):
    # With a text, a sound and the number of unread notifications.
    SHOWN = auto()
    # Data for the app, which decides what to show.
    BACKGROUND = auto()
    # Something was read on another device: the number of unread notifications, and data for the app.
    READ = auto()


@dataclass(frozen=True, slots=True)
class PushMessage:
    """One push to one device, for any provider. Each provider knows how its platforms show the styles."""

    token: str
    platform: str
    style: Style
    # Data for the app: `type` and its fields. All values are text.
    data: dict[str, str]
    # The push service drops the push this many seconds after it was sent.
    ttl: int
    is_urgent: bool = False
    # The number of unread notifications, possibly 0. None where nothing is shown.
    badge: int | None = None
    # For style SHOWN only: the text, the older push that this one replaces on the screen, and the provider's collapse
    # key.
    title: str = ""
    body: str = ""
    tag: str = ""
    collapse_key: str = ""
    # For statistics of the provider.
    label: str = ""

    @property
    def is_ios(self) -> bool:
        return self.platform == "ios"
