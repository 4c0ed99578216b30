"""The four staff groups; `migrate` creates them and does not change them afterwards.

Support helps users, Moderator closes reports, Auditor may view everything, Operations manages deliveries. To grant
other permissions, change the group in the admin.
"""

from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.db.models import Q

APPS = ("accounts", "messaging", "notifications", "realtime", "integrations")

# Permissions besides `view`; every group may view what its work needs.
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
    "Operations": ("retry_delivery", "send_test_push", "sign_out_user", "enable_webhook"),
}
# Models that a group cannot view.
UNSEEN = {
    "Support": ("view_report",),
    "Moderator": ("view_delivery", "view_code"),
    "Operations": ("view_message", "view_report", "view_messagerevision"),
}


# The ids of the permissions that existed before `migrate`.
_known: set[int] = set()


def remember_permissions(**kwargs: Any) -> None:
    """Called before `migrate`: remembers the permissions that exist, so that those of new models can be recognised."""
    _known.clear()
    if Permission._meta.db_table in connection.introspection.table_names():
        _known.update(Permission.objects.values_list("id", flat=True))


def make_groups(**kwargs: Any) -> None:
    """Called after `migrate`: creates missing groups, and gives Auditor the `view` permission of new models. It does
    not restore a permission that staff have removed."""
    permissions = Permission.objects.filter(content_type__app_label__in=APPS)
    may_view = Q(codename__startswith="view_")
    for name, extra in EXTRA.items():
        group, is_new = Group.objects.get_or_create(name=name)
        if is_new:
            allowed = permissions.filter(may_view | Q(codename__in=extra))
            group.permissions.set(allowed.exclude(codename__in=UNSEEN.get(name, ())))
        elif name == "Auditor":
            group.permissions.add(*permissions.filter(may_view).exclude(id__in=_known))
