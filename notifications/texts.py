"""The texts of a push, in the active language."""

from django.utils.translation import gettext as _

from notifications.kinds import Counts, Kind

BODY_LENGTH = 200


def push_text(kind: Kind, *, actor_name: str, target_title: str, count: int) -> tuple[str, str]:
    """Title and body. The title is the actor's name; the body never contains text of users."""
    if kind.one is not None and (count <= 1 or kind.many is None):
        body = str(kind.one)
    else:
        others = 1 if kind.counts is Counts.ACTORS else 0
        body = kind.many % {"count": max(count - others, 1)}
    if target_title:
        body = _("%(sentence)s: %(title)s") % {"sentence": body, "title": target_title}
    return actor_name, body if len(body) <= BODY_LENGTH else body[: BODY_LENGTH - 1] + "…"
