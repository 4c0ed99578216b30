"""What the page of a user and the index page show of accounts."""

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import AuditEntry, Block, Session, TrustedDevice, User
from accounts.staff.charts import Chart, add_chart
from accounts.staff.panels import Panel, add_panel

add_panel(
    Panel(
        Session,
        lambda user: Session.objects.filter(user=user).order_by("-last_used_at"),
        ("id", "kind", "device_name", "ip", "created_at", "last_used_at", "ended_at", "ended_reason"),
        position=1,
    )
)
add_panel(
    Panel(
        TrustedDevice,
        lambda user: TrustedDevice.objects.filter(user=user).order_by("-id"),
        ("id", "device_name", "created_at", "last_used_at", "expires_at"),
        position=2,
    )
)
add_panel(
    Panel(
        Block,
        lambda user: Block.objects.filter(Q(blocker=user) | Q(blocked=user)).order_by("-id"),
        ("id", "blocker", "blocked", "created_at"),
        position=3,
    )
)
add_panel(
    Panel(
        AuditEntry,
        lambda user: AuditEntry.objects.filter(target=user).order_by("-id"),
        ("created_at", "action", "reason", "actor_label", "ip"),
        position=6,
    )
)

add_chart(Chart("sign-ups", _("Sign-ups"), "accounts.view_user", 1, lambda start: User.objects.all()))
add_chart(
    Chart(
        "lock-outs",
        _("Login lockouts"),
        "accounts.view_auditentry",
        5,
        lambda start: AuditEntry.objects.filter(action="user.locked"),
    )
)
