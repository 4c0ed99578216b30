"""The paths of accounts, in the order of the contract's table."""

from django.urls import path

from accounts.viewsets.email_undo import EmailUndoViewSet
from accounts.viewsets.login import DeviceViewSet, LoginViewSet, OwnSessionViewSet, SessionListViewSet, TwoStepViewSet
from accounts.viewsets.profile import AvatarViewSet, BlockViewSet, PrivacyViewSet, ProfileViewSet
from accounts.viewsets.registration import ForgottenPasswordViewSet, RegistrationViewSet
from accounts.viewsets.security import ActionViewSet, ExportViewSet, SecondPasswordViewSet, SecurityViewSet

urlpatterns = [
    path("auth/signup", RegistrationViewSet.as_view({"post": "signup"})),
    path("auth/verify", RegistrationViewSet.as_view({"post": "verify"})),
    path("auth/resend-otp", RegistrationViewSet.as_view({"post": "resend"})),
    path("auth/login", LoginViewSet.as_view({"post": "login"})),
    path("auth/two-step", TwoStepViewSet.as_view({"post": "verify"})),
    path("auth/resend-two-step", TwoStepViewSet.as_view({"post": "resend"})),
    path("auth/two-step/forgot", TwoStepViewSet.as_view({"post": "recover"})),
    path("auth/forgot-password", ForgottenPasswordViewSet.as_view({"post": "forgot"})),
    path("auth/verify-reset", ForgottenPasswordViewSet.as_view({"post": "reset"})),
    path("auth/refresh", LoginViewSet.as_view({"post": "refresh"})),
    path("auth/logout", OwnSessionViewSet.as_view({"post": "logout"})),
    path("auth/me", OwnSessionViewSet.as_view({"get": "me"})),
    path("auth/action-challenge", ActionViewSet.as_view({"post": "challenge"})),
    path("auth/action-verify", ActionViewSet.as_view({"post": "verify"})),
    path("auth/two-step/status", SecondPasswordViewSet.as_view({"get": "status"})),
    path("auth/two-step/enable", SecondPasswordViewSet.as_view({"post": "enable"})),
    path("auth/two-step/change", SecondPasswordViewSet.as_view({"post": "change"})),
    path("auth/two-step/disable", SecondPasswordViewSet.as_view({"post": "disable"})),
    path("auth/two-step/recovery-codes", SecondPasswordViewSet.as_view({"post": "recovery_codes"})),
    path("auth/change-password", SecurityViewSet.as_view({"post": "change_password"})),
    path("auth/change-email", SecurityViewSet.as_view({"post": "change_email"})),
    path("auth/change-email/verify", SecurityViewSet.as_view({"post": "verify_email"})),
    path("auth/change-email/undo", EmailUndoViewSet.as_view({"post": "undo"})),
    path("auth/delete-account", SecurityViewSet.as_view({"post": "delete_account"})),
    path("auth/export", ExportViewSet.as_view({"get": "export"})),
    path("auth/sessions", SessionListViewSet.as_view({"get": "list"})),
    path("auth/sessions/revoke-others", SessionListViewSet.as_view({"post": "end_others"})),
    path("auth/sessions/<str:session_id>", SessionListViewSet.as_view({"delete": "end"})),
    path("auth/devices", DeviceViewSet.as_view({"get": "list"})),
    path("auth/devices/<str:device_id>", DeviceViewSet.as_view({"delete": "remove"})),
    path("profile", ProfileViewSet.as_view({"get": "get", "patch": "update"})),
    path("profile/avatar", AvatarViewSet.as_view({"put": "set", "delete": "remove"})),
    path("profile/privacy", PrivacyViewSet.as_view({"get": "get", "put": "set"})),
    path("profile/blocks", BlockViewSet.as_view({"get": "list", "post": "add"})),
    path("profile/blocks/<str:user_id>", BlockViewSet.as_view({"delete": "remove"})),
]
