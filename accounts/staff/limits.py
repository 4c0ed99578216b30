"""The rate of writes in the admin: the default rate of writes, per staff member."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from rest_framework.permissions import SAFE_METHODS

from core import errors, ratelimits
from core.exceptions import RateLimited
from core.request_context import network_of_request
from core.throttles import WRITES, throttles

View = Callable[..., HttpResponseBase]


def writes_limited(view: View) -> View:
    """Wraps a view: a write beyond the rate gets a page with status 429."""

    @throttles(WRITES)
    @wraps(view)
    def limited(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method not in SAFE_METHODS:
            user_id = request.user.pk
            try:
                ratelimits.check(WRITES.scope, network_of_request(request) if user_id is None else user_id)
            except RateLimited as error:
                return errors.rate_limited(request, error)
        return view(request, *args, **kwargs)

    return limited
