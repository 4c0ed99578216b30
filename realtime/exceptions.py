"""The errors that belong to the live wire."""

from django.utils.translation import gettext_lazy as _

from accounts.exceptions import ApiError


class CallConflict(ApiError):
    """The call is in a state that does not allow this, or this device may not ask for it."""

    status_code = 409
    default_code = "call_conflict"
    default_detail = _("The call does not allow this now.")
