"""The names of audit actions on the support pages. Each app names the actions that it records."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

_names: dict[str, str | Promise] = {}


def name_actions(names: Mapping[str, str | Promise]) -> None:
    """Adds the names of an app's actions: `{"message.revealed": _("Message revealed")}`."""
    _names.update(names)


def name_of(action: str) -> str:
    """In the reader's language; an action that is no longer recorded keeps its code."""
    return str(_names.get(action, action))


name_actions(
    {
        "admin.signed_in": _("Signed in to the support pages"),
        "admin.second_factor_added": _("Second factor added"),
        "admin.second_factor_removed": _("Second factor removed"),
        "group.added": _("Group added"),
        "group.changed": _("Group changed"),
        "group.removed": _("Group removed"),
        "session.ended": _("Session ended"),
        "token_key.rotated": _("Signing key rotated"),
        "trusted_device.removed": _("Trusted device removed"),
        "user.added": _("User added"),
        "user.blocked": _("User blocked"),
        "user.changed": _("User changed"),
        "user.code_sent": _("Confirmation code sent"),
        "user.erased": _("Account erased"),
        "user.exported": _("Data exported"),
        "user.locked": _("Locked after wrong passwords"),
        "user.signed_out": _("Signed out everywhere"),
        "user.two_step_reset": _("Two-step sign-in reset"),
        "user.unblocked": _("User unblocked"),
        "user.unlocked": _("User unlocked"),
        "user.verified": _("E-mail address confirmed"),
    }
)
