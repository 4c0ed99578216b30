"""The four groups of staff, made by `migrate` and left alone afterwards.

Support helps people, Moderator judges reports, Auditor sees everything and changes nothing,
Operations looks after deliveries. Whoever wants other rights changes the group in the admin.
"""

from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db.models import Q

APPS = ("accounts", "messaging", "notifications", "realtime")

# Permissions beyond looking; every group may look at what its work needs.
EXTRA = {
    "Support": (
        "block_user",
        "unlock_user",
        "sign_out_user",
        "reset_two_step",
        "export_user",
        "erase_user",
        "send_test_push",
    ),
    "Moderator": ("block_user", "reveal_message", "resolve_report"),
    "Auditor": (),
    "Operations": ("retry_delivery", "send_test_push", "sign_out_user"),
}
# What a group does not even see.
UNSEEN = {
    "Support": ("view_report",),
    "Moderator": ("view_delivery", "view_code"),
    "Operations": ("view_message", "view_report", "view_messagerevision"),
}


def make_groups(**kwargs: Any) -> None:
    """After `migrate`: the groups that do not exist yet, and for Auditor whatever became visible."""
    permissions = Permission.objects.filter(content_type__app_label__in=APPS)
    may_view = Q(codename__startswith="view_")
    for name, extra in EXTRA.items():
        group, is_new = Group.objects.get_or_create(name=name)
        if is_new:
            allowed = permissions.filter(may_view | Q(codename__in=extra))
            group.permissions.set(allowed.exclude(codename__in=UNSEEN.get(name, ())))
        elif name == "Auditor":
            group.permissions.add(*permissions.filter(may_view))
