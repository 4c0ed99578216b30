"""The names of audit actions of the commands that concern all apps."""

from django.utils.translation import gettext_lazy as _

from accounts.staff.audit_actions import name_actions

name_actions({"purge_expired": _("Expired data deleted")})
