"""DRF permission classes that depend on the account."""

from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.authentication import person
from accounts.exceptions import EmailNotVerified


class IsVerified(IsAuthenticated):
    """Signed in, with a confirmed address: for everything that reaches another user."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        allowed = super().has_permission(request, view)
        if allowed and not person(request).has_verified_email:
            raise EmailNotVerified
        return allowed
