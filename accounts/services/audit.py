"""The audit log: actor, action, target and reason. Rows are only added."""

from typing import Any

from accounts.models import AuditEntry, User
from core import request_context


def record(
    *,
    action: str,
    actor: User | None = None,
    actor_label: str = "",
    target: User | None = None,
    target_label: str = "",
    reason: str = "",
    **details: Any,
) -> AuditEntry:
    """Adds one row, in the transaction of the action, with the request's id and client address.

    `actor_label` names an actor without an account ("cli:root", "purge"); `details` is small JSON
    and never holds a code, a password, a token or the text of a message.
    """
    return AuditEntry.objects.create(
        actor=actor,
        actor_label=actor_label or (actor.email if actor else "system"),
        action=action,
        target=target,
        target_label=target_label or (target.email if target else ""),
        reason=reason[:500],
        details=details,
        request_id=request_context.request_id(),
        ip=request_context.client_address(),
    )
