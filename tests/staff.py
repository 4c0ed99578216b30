"""Staff members and their browsers."""

from django.contrib.auth.models import Group
from django.test import Client
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import User
from tests.factories import PASSWORD, make_user


def code_of(device: TOTPDevice) -> str:
    return f"{totp(device.bin_key, drift=device.drift):06d}"


def staff(group: str | None = None, **fields) -> User:
    user = make_user("Sam", is_staff=True, **fields)
    if group:
        user.groups.add(Group.objects.get(name=group))
    return user


def admin_client(user: User) -> Client:
    """A browser that has signed in with password and code."""
    device = TOTPDevice.objects.create(user=user, confirmed=True, name="app")
    client = Client()
    answer = client.post("/admin/login/", {"username": user.email, "password": PASSWORD, "code": code_of(device)})
    assert answer.status_code == 302, answer.content
    return client
