"""The errors of the real-time channel."""

from django.utils.translation import gettext_lazy as _

from core.api.exceptions import ApiError


class CallConflict(ApiError):
    """The state of the call does not allow the command, or this device may not send it."""

    status_code = 409
    default_code = "call_conflict"
    default_detail = _("This is not possible in the current state of the call.")
