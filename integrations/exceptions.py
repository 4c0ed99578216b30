"""The errors of integrations: one class each, with code, status and text."""

from django.utils.translation import gettext_lazy as _

from core.api.exceptions import ApiError


class ServerKeyInvalid(ApiError):
    status_code = 401
    default_code = "server_key_invalid"
    default_detail = _("A valid server key is required.")


class ScopeMissing(ApiError):
    """Always with `scope`, the one that the key lacks."""

    status_code = 403
    default_code = "scope_missing"
    default_detail = _("This server key may not do this.")


class ServerKeyInBrowser(ApiError):
    status_code = 403
    default_code = "server_key_in_browser"
    default_detail = _("A server key belongs on a server. This request came from a browser: revoke the key.")


class EventsExpired(ApiError):
    """Always with `oldest_id`, the first event that is kept, null without one."""

    status_code = 410
    default_code = "events_expired"
    default_detail = _("Some of these events are no longer kept.")
