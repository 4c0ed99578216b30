"""The paths of accounts, in the order of the contract's table; `me`, the most frequent, first."""

from django.urls import include, path

from accounts.images.viewsets import MediaViewSet
from accounts.viewsets.login import DeviceViewSet, LoginViewSet, OwnSessionViewSet, SessionListViewSet, TwoStepViewSet
from accounts.viewsets.profile import AvatarViewSet, BlockViewSet, PrivacyViewSet, ProfileViewSet
from accounts.viewsets.security import (
    ActionViewSet,
    EmailUndoViewSet,
    ExportViewSet,
    SecondPasswordViewSet,
    SecurityViewSet,
)

app_name = "accounts"

_auth = [
    path("me", OwnSessionViewSet.as_view({"get": "me"}), name="me"),
    path("signup", LoginViewSet.as_view({"post": "signup"}), name="signup"),
    path("verify", LoginViewSet.as_view({"post": "verify"}), name="verify"),
    path("resend-otp", LoginViewSet.as_view({"post": "resend"}), name="resend-otp"),
    path("login", LoginViewSet.as_view({"post": "login"}), name="login"),
    path("two-step", TwoStepViewSet.as_view({"post": "verify"}), name="two-step"),
    path("resend-two-step", TwoStepViewSet.as_view({"post": "resend"}), name="resend-two-step"),
    path("two-step/forgot", TwoStepViewSet.as_view({"post": "recover"}), name="two-step-forgot"),
    path("forgot-password", LoginViewSet.as_view({"post": "forgot"}), name="forgot-password"),
    path("verify-reset", LoginViewSet.as_view({"post": "reset"}), name="verify-reset"),
    path("refresh", LoginViewSet.as_view({"post": "refresh"}), name="refresh"),
    path("logout", OwnSessionViewSet.as_view({"post": "logout"}), name="logout"),
    path("action-challenge", ActionViewSet.as_view({"post": "challenge"}), name="action-challenge"),
    path("action-verify", ActionViewSet.as_view({"post": "verify"}), name="action-verify"),
    path("two-step/status", SecondPasswordViewSet.as_view({"get": "status"}), name="two-step-status"),
    path("two-step/enable", SecondPasswordViewSet.as_view({"post": "enable"}), name="two-step-enable"),
    path("two-step/change", SecondPasswordViewSet.as_view({"post": "change"}), name="two-step-change"),
    path("two-step/disable", SecondPasswordViewSet.as_view({"post": "disable"}), name="two-step-disable"),
    path("two-step/recovery-codes", SecondPasswordViewSet.as_view({"post": "recovery_codes"}), name="recovery-codes"),
    path("security-changes", SecurityViewSet.as_view({"get": "changes"}), name="security-changes"),
    path("change-password", SecurityViewSet.as_view({"post": "change_password"}), name="change-password"),
    path("change-email", SecurityViewSet.as_view({"post": "change_email"}), name="change-email"),
    path("change-email/verify", SecurityViewSet.as_view({"post": "verify_email"}), name="change-email-verify"),
    path("change-email/undo", EmailUndoViewSet.as_view({"post": "undo"}), name="change-email-undo"),
    path("delete-account", SecurityViewSet.as_view({"post": "delete_account"}), name="delete-account"),
    path("export", ExportViewSet.as_view({"get": "export"}), name="export"),
    path("sessions", SessionListViewSet.as_view({"get": "list"}), name="sessions"),
    path("sessions/revoke-others", SessionListViewSet.as_view({"post": "end_others"}), name="sessions-revoke-others"),
    path("sessions/<str:session_id>", SessionListViewSet.as_view({"delete": "end"}), name="session"),
    path("devices", DeviceViewSet.as_view({"get": "list"}), name="devices"),
    path("devices/<str:device_id>", DeviceViewSet.as_view({"delete": "remove"}), name="device"),
]

urlpatterns = [
    path("auth/", include(_auth)),
    path("profile", ProfileViewSet.as_view({"get": "get", "patch": "update"}), name="profile"),
    path("profile/avatar", AvatarViewSet.as_view({"put": "set", "delete": "remove"}), name="avatar"),
    path("profile/privacy", PrivacyViewSet.as_view({"get": "get", "put": "set"}), name="privacy"),
    path("profile/blocks", BlockViewSet.as_view({"get": "list", "post": "add"}), name="blocks"),
    path("profile/blocks/<str:user_id>", BlockViewSet.as_view({"delete": "remove"}), name="block"),
    path("media/<str:token>", MediaViewSet.as_view({"get": "full"}), name="media"),
    path("media/<str:token>/thumb", MediaViewSet.as_view({"get": "thumb"}), name="thumbnail"),
]
