"""Each admin session has a `Session` row behind its cookie: it is listed, and ends with the others."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest

from accounts.exceptions import AccountBlocked
from accounts.models import User
from accounts.services import login, sessions
from core.request_context import caller_of
from core.transactions import unit_of_work

SESSION_KEY = "accounts_session_id"
# The attribute of the request that caches the result.
_IS_LIVE = "_staff_session_is_live"


def is_live(request: HttpRequest) -> bool:
    """Whether the session behind this cookie is still valid; read once per request."""
    attributes = vars(request)
    if _IS_LIVE not in attributes:
        row_id, user_id = request.session.get(SESSION_KEY), request.user.pk
        attributes[_IS_LIVE] = (
            row_id is not None and user_id is not None and sessions.is_live_in_admin(session_id=row_id, user_id=user_id)
        )
    return bool(attributes[_IS_LIVE])


# By signal, so that every way to start Django's session creates a row.
@receiver(user_logged_in)
def start(request: HttpRequest, user: User, **kwargs: Any) -> None:
    with unit_of_work():
        account = User.objects.lock(user.pk)
        if account.password != user.password:
            return  # changed since it was compared; without a row the session is not valid
        lifetime = timedelta(seconds=settings.SESSION_COOKIE_AGE)
        try:
            session = login.complete_in_admin(user=account, caller=caller_of(request), lifetime=lifetime)
        except AccountBlocked:
            return
    request.session[SESSION_KEY] = session.id
    vars(request)[_IS_LIVE] = True


@receiver(user_logged_out)
def end(request: HttpRequest, user: User | None, **kwargs: Any) -> None:
    row_id = request.session.get(SESSION_KEY)
    if user is not None and row_id is not None:
        sessions.end_in_admin(user_id=user.pk, session_id=row_id, reason="logout")
