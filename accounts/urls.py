"""The paths of accounts, in the order of the contract's table."""

from django.urls import path

from accounts.viewsets.login import LoginViewSet, OwnSessionViewSet
from accounts.viewsets.password import ForgottenPasswordViewSet
from accounts.viewsets.registration import RegistrationViewSet

urlpatterns = [
    path("auth/signup", RegistrationViewSet.as_view({"post": "signup"})),
    path("auth/verify", RegistrationViewSet.as_view({"post": "verify"})),
    path("auth/resend-otp", RegistrationViewSet.as_view({"post": "resend"})),
    path("auth/login", LoginViewSet.as_view({"post": "login"})),
    path("auth/forgot-password", ForgottenPasswordViewSet.as_view({"post": "forgot"})),
    path("auth/verify-reset", ForgottenPasswordViewSet.as_view({"post": "reset"})),
    path("auth/refresh", LoginViewSet.as_view({"post": "refresh"})),
    path("auth/logout", OwnSessionViewSet.as_view({"post": "logout"})),
    path("auth/me", OwnSessionViewSet.as_view({"get": "me"})),
]
