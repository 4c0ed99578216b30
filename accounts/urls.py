"""The paths of accounts, in the order of the contract's table."""

from django.urls import path

from accounts.viewsets.email_undo import EmailUndoViewSet
from accounts.viewsets.login import DeviceViewSet, LoginViewSet, OwnSessionViewSet, SessionListViewSet, TwoStepViewSet
from accounts.viewsets.media import MediaViewSet
from accounts.viewsets.profile import AvatarViewSet, BlockViewSet, PrivacyViewSet, ProfileViewSet
from accounts.viewsets.registration import ForgottenPasswordViewSet, RegistrationViewSet
from accounts.viewsets.security import ActionViewSet, ExportViewSet, SecondPasswordViewSet, SecurityViewSet

app_name = "accounts"

urlpatterns = [
    path("auth/signup", RegistrationViewSet.as_view({"post": "signup"}), name="signup"),
    path("auth/verify", RegistrationViewSet.as_view({"post": "verify"}), name="verify"),
    path("auth/resend-otp", RegistrationViewSet.as_view({"post": "resend"}), name="resend-otp"),
    path("auth/login", LoginViewSet.as_view({"post": "login"}), name="login"),
    path("auth/two-step", TwoStepViewSet.as_view({"post": "verify"}), name="two-step"),
    path("auth/resend-two-step", TwoStepViewSet.as_view({"post": "resend"}), name="resend-two-step"),
    path("auth/two-step/forgot", TwoStepViewSet.as_view({"post": "recover"}), name="two-step-forgot"),
    path("auth/forgot-password", ForgottenPasswordViewSet.as_view({"post": "forgot"}), name="forgot-password"),
    path("auth/verify-reset", ForgottenPasswordViewSet.as_view({"post": "reset"}), name="verify-reset"),
    path("auth/refresh", LoginViewSet.as_view({"post": "refresh"}), name="refresh"),
    path("auth/logout", OwnSessionViewSet.as_view({"post": "logout"}), name="logout"),
    path("auth/me", OwnSessionViewSet.as_view({"get": "me"}), name="me"),
    path("auth/action-challenge", ActionViewSet.as_view({"post": "challenge"}), name="action-challenge"),
    path("auth/action-verify", ActionViewSet.as_view({"post": "verify"}), name="action-verify"),
    path("auth/two-step/status", SecondPasswordViewSet.as_view({"get": "status"}), name="two-step-status"),
    path("auth/two-step/enable", SecondPasswordViewSet.as_view({"post": "enable"}), name="two-step-enable"),
    path("auth/two-step/change", SecondPasswordViewSet.as_view({"post": "change"}), name="two-step-change"),
    path("auth/two-step/disable", SecondPasswordViewSet.as_view({"post": "disable"}), name="two-step-disable"),
    path(
        "auth/two-step/recovery-codes", SecondPasswordViewSet.as_view({"post": "recovery_codes"}), name="recovery-codes"
    ),
    path("auth/change-password", SecurityViewSet.as_view({"post": "change_password"}), name="change-password"),
    path("auth/change-email", SecurityViewSet.as_view({"post": "change_email"}), name="change-email"),
    path("auth/change-email/verify", SecurityViewSet.as_view({"post": "verify_email"}), name="change-email-verify"),
    path("auth/change-email/undo", EmailUndoViewSet.as_view({"post": "undo"}), name="change-email-undo"),
    path("auth/delete-account", SecurityViewSet.as_view({"post": "delete_account"}), name="delete-account"),
    path("auth/export", ExportViewSet.as_view({"get": "export"}), name="export"),
    path("auth/sessions", SessionListViewSet.as_view({"get": "list"}), name="sessions"),
    path(
        "auth/sessions/revoke-others", SessionListViewSet.as_view({"post": "end_others"}), name="sessions-revoke-others"
    ),
    path("auth/sessions/<str:session_id>", SessionListViewSet.as_view({"delete": "end"}), name="session"),
    path("auth/devices", DeviceViewSet.as_view({"get": "list"}), name="devices"),
    path("auth/devices/<str:device_id>", DeviceViewSet.as_view({"delete": "remove"}), name="device"),
    path("profile", ProfileViewSet.as_view({"get": "get", "patch": "update"}), name="profile"),
    path("profile/avatar", AvatarViewSet.as_view({"put": "set", "delete": "remove"}), name="avatar"),
    path("profile/privacy", PrivacyViewSet.as_view({"get": "get", "put": "set"}), name="privacy"),
    path("profile/blocks", BlockViewSet.as_view({"get": "list", "post": "add"}), name="blocks"),
    path("profile/blocks/<str:user_id>", BlockViewSet.as_view({"delete": "remove"}), name="block"),
    path("media/<str:token>", MediaViewSet.as_view({"get": "full"}), name="media"),
    path("media/<str:token>/thumb", MediaViewSet.as_view({"get": "thumb"}), name="thumbnail"),
]
