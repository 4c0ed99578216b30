"""An account that is removed while staff or an operator changes it: a sentence, and nothing is written."""

import pytest
from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.management import user_commands
from accounts.management.commands import export_user
from accounts.models import AuditEntry, Session, TrustedDevice, User
from accounts.sign_in import trusted_devices
from accounts.staff.actions import ConfirmedAction
from messaging.models import Message, Report
from messaging.services import conversations, messages, reports
from notifications.management.commands import send_test_push
from notifications.models import Delivery, Device
from tests.accounts.test_commands import COMMANDS
from tests.factories import make_user, sign_in
from tests.staff import admin_client, staff

ACTIONS = [
    pytest.param(model, name, id=f"{model._meta.model_name}-{name}")
    for model, page in admin.site._registry.items()
    for name in page.actions or ()
    if isinstance(getattr(page, name), ConfirmedAction)
]
# The text that was read is shown, and that is in the audit log.
REVEALED = ("reveal",)
NO_ROWS_OF_ACCOUNTS = (Group, Delivery, Message, Report)


def row_of(model, user, other):
    expires = timezone.now() + timezone.timedelta(days=1)
    if model is User:
        return user
    if model is Session:
        return sign_in(user)[0]
    if model is TrustedDevice:
        trusted_devices.remember_device(user=user, device_name="phone")
        return TrustedDevice.objects.get()
    if model is Group:
        return Group.objects.create(name="odd")
    if model is TOTPDevice:
        return TOTPDevice.objects.create(user=user, confirmed=True, name="app")
    if model is Device:
        session = sign_in(user)[0]
        return Device.objects.create(user=user, session=session, registration_id="token-of-a-phone")
    if model is Delivery:
        values = {"channel": "push", "kind": "test", "dedupe_key": "key", "expires_at": expires, "state": "dead"}
        return Delivery.objects.create(recipient=user, **values)
    conversation, _ = conversations.start(starter=other, user_id=user.id)
    message, _ = messages.send(sender=user, conversation_id=conversation.id, body="hello")
    if model is Message:
        return Message.objects.get(id=message.id)
    return reports.report(reporter=other, message_id=message.id, reason="spam")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("model", "name"), ACTIONS)
def test_an_action_on_what_was_removed_a_moment_ago_says_so(model, name, monkeypatch):
    user, other = make_user("Vera", second_password="argon2$never-compared", wrong_passwords=3), make_user("Bob")
    row = row_of(model, user, other)
    User.objects.filter(id=user.id).update(blocked_at=timezone.now(), email_verified_at=None)
    removed = row if model in NO_ROWS_OF_ACCOUNTS else user
    browser = admin_client(staff(is_superuser=True))
    seen = AuditEntry.objects.count()
    is_valid = forms.Form.is_valid

    def after_the_removal(form):
        if not type(form).__module__.startswith("django."):  # that of the confirmation, which is read after the rows
            type(removed)._default_manager.filter(pk=removed.pk).delete()
        return is_valid(form)

    monkeypatch.setattr(forms.Form, "is_valid", after_the_removal)
    fields = {"reason": "asked", "resolution": "asked"}
    chosen = {"action": name, "_selected_action": [row.pk], "confirmed": "1", **fields}
    page = browser.post(f"/admin/{model._meta.app_label}/{model._meta.model_name}/", chosen, follow=True)
    assert page.status_code == 200
    if name not in REVEALED:
        assert page.context["messages"]
        assert AuditEntry.objects.count() == seen


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", [*COMMANDS, "export_user", "send_test_push"])
def test_a_command_for_an_account_that_was_removed_a_moment_ago_says_so(name, monkeypatch, tmp_path):
    user = make_user("Vera", verified=name != "verify_user")
    row_of(Device, user, None)
    find_user = user_commands.find_user

    def found_and_removed(text):
        found = find_user(text)
        User.objects.filter(id=found.id).delete()
        return found

    words = COMMANDS.get(name, ["--output", str(tmp_path / "vera.zip")] if name == "export_user" else [])
    for module in (user_commands, export_user, send_test_push):
        monkeypatch.setattr(module, "find_user", found_and_removed)
    with pytest.raises(CommandError) as refused:
        call_command(name, user.email, *words)
    assert refused.value.returncode == 3
    assert not AuditEntry.objects.exists() and not list(tmp_path.iterdir())
