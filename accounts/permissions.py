"""What a view requires of its user: a confirmed address, and an action token for what protects the account."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.exceptions import EmailNotVerified
from accounts.sign_in import action_tokens

HEADER = "X-Action-Token"
PARAMETER = OpenApiParameter(
    HEADER,
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    required=True,
    description="From action-verify; good for one use of one action by one session.",
)


class IsVerified(IsAuthenticated):
    """Signed in, with a confirmed address: for everything that reaches another user."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        allowed = super().has_permission(request, view)
        if allowed and not request.user.has_verified_email:
            raise EmailNotVerified
        return allowed


class MethodPermissions:
    """A view set whose methods may declare permissions of their own with DRF's decorator `permission_classes`."""

    action: str | None
    permission_classes: Sequence[type[BasePermission]]

    def get_permissions(self) -> list[BasePermission]:
        method = getattr(self, self.action or "", None)
        return [permission() for permission in getattr(method, "permission_classes", self.permission_classes)]


def needs_action_token(action: action_tokens.Action) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares that a method of a view needs an action token for `action`, and passes it as `action_token`.

    Not a permission class: those run before the throttles, and a wrong token must count. ActionTokenRequired,
    ActionTokenInvalid.
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @extend_schema(parameters=[PARAMETER])
        @wraps(method)
        def handler(self: APIView, request: Request) -> Any:
            token = action_tokens.verify_action_token(
                user=request.user, session=request.auth, action=action, token=request.headers.get(HEADER, "").strip()
            )
            return method(self, request, action_token=token)

        return handler

    return decorate
