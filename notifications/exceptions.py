"""The errors of this app: one class each, with code, status and text."""

from django.utils.translation import gettext_lazy as _

from core.api.exceptions import NotFound


class NotificationNotFound(NotFound):
    default_detail = _("This notification doesn't exist.")
