"""The audit log: actor, action, target and reason. Rows are only added.

Each app names the actions that it records, for the support pages.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import AuditEntry, User
from core import network, request_context


def record(
    *,
    action: str,
    actor: User | str = "system",
    target: User | None = None,
    target_label: str = "",
    reason: str = "",
    **details: Any,
) -> AuditEntry:
    """Adds one row, in the transaction of the action, with the request's id and client address.

    `actor` is a user, or the name of an actor without an account ("cli:root", "purge"). `details` is small JSON; it never
    contains a code, a password, a token or the text of a message.
    """
    return AuditEntry.objects.create(
        actor=actor if isinstance(actor, User) else None,
        actor_label=actor.email if isinstance(actor, User) else actor,
        action=action,
        target=target,
        target_label=target_label or (target.email if target else ""),
        reason=reason[:500],
        details=details,
        request_id=request_context.request_id(),
        ip=network.client_address(),
    )


def last_at(action: str) -> datetime | None:
    """When an action was recorded last; None if it never was."""
    recorded = AuditEntry.objects.filter(action=action).order_by("-created_at")
    return recorded.values_list("created_at", flat=True).first()


def entries_about(user_id: int, actions: Iterable[str]) -> QuerySet[AuditEntry]:
    """What was recorded about a user under these actions, newest first."""
    return AuditEntry.objects.filter(target_id=user_id, action__in=list(actions)).order_by("-id")


def anonymise(*, user_id: int) -> None:
    """Keeps only the user's id in the rows about a user and about their actions. Removes reasons, details and client
    addresses."""
    label = f"user {user_id}"
    AuditEntry.objects.filter(target_id=user_id).update(target_label=label, reason="", details={})
    AuditEntry.objects.filter(actor_id=user_id).update(actor_label=label, ip=None)


_names: dict[str, str | Promise] = {}


def name_actions(names: Mapping[str, str | Promise]) -> None:
    """Adds the names of an app's actions: `{"message.revealed": _("Message revealed")}`."""
    _names.update(names)


def names() -> dict[str, str | Promise]:
    """All actions, in the order of their codes, with their names."""
    return dict(sorted(_names.items()))


def name_of(action: str) -> str:
    """The action in the reader's language; the code of an action that is no longer recorded."""
    return str(_names.get(action, action))


name_actions(
    {
        "admin.signed_in": _("Signed in to the support pages"),
        "admin.code_refused": _("Wrong app code after the right password"),
        "admin.second_factor_added": _("Second factor added"),
        "admin.second_factor_removed": _("Second factor removed"),
        "group.added": _("Group added"),
        "group.changed": _("Group changed"),
        "group.removed": _("Group removed"),
        "session.ended": _("Session ended"),
        "session.reused": _("Old token used again"),
        "token_key.rotated": _("Signing key rotated"),
        "trusted_device.removed": _("Trusted device removed"),
        "user.added": _("User added"),
        "user.blocked": _("User blocked"),
        "user.changed": _("User changed"),
        "user.codes_refused": _("Many wrong codes"),
        "user.code_sent": _("Confirmation code sent"),
        "user.erased": _("Account erased"),
        "user.exported": _("Data exported"),
        "user.locked": _("Locked after wrong passwords"),
        "user.second_step_refused": _("Wrong second step after the right password"),
        "user.signed_out": _("Signed out everywhere"),
        "user.two_step_reset": _("Two-step sign-in reset"),
        "user.unblocked": _("User unblocked"),
        "user.unlocked": _("User unlocked"),
        "user.verified": _("E-mail address confirmed"),
    }
)
