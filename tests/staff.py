"""Staff members and their browsers, and what the support pages have."""

from django.contrib import admin
from django.contrib.auth.models import Group
from django.test import Client, RequestFactory
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


def superusers_request():
    request = RequestFactory().get("/admin/")
    request.user = User(is_staff=True, is_superuser=True)
    return request


def path_of(model):
    return f"{model._meta.app_label}/{model._meta.model_name}"


def registered_actions():
    """Every action that the admin knows: the list it stands on, and its name."""
    request = superusers_request()
    return {
        (path_of(model), name) for model, page in admin.site._registry.items() for name in page.get_actions(request)
    }


def registered_forms():
    """Every list whose rows can be added or changed in a form."""
    request = superusers_request()
    registered = admin.site._registry.items()
    return {("add", path_of(model)) for model, page in registered if page.has_add_permission(request)} | {
        ("change", path_of(model)) for model, page in registered if page.has_change_permission(request)
    }
