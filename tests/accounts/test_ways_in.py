"""Everything that is compared as a secret: a counter on the account, a mail to its owner, an audit row (docs/security.md)."""

import re
import zipfile
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib import admin
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.emails.texts import EMAIL_TEXTS
from accounts.models import Action, AuditEntry, Code, RateCount, Session, User
from accounts.services import account_status, audit, export
from accounts.sign_in import codes, sessions
from accounts.sign_in.action_tokens import purpose_of
from accounts.staff.actions import ReasonForm
from tests.accounts.steps import SECOND, enable_two_step, login, send_second_step
from tests.client import ApiClient
from tests.factories import PASSWORD, make_user, sign_in
from tests.staff import admin_client, code_of, staff

AUTH = "/api/v1/auth"


def rows():
    """The rows of the table: secret → (mail, audit action)."""
    text = (Path(settings.BASE_DIR) / "docs/security.md").read_text()
    table = text.split("| secret | counted on the account | mail to the owner | audit row |")[1].split("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("| \n").split("|")] for line in table.strip().splitlines()[1:]]
    return {
        secret: (re.findall(r"`(\w+)`", mail)[0], re.findall(r"`([\w.]+)`", row)[0]) for secret, _, mail, row in cells
    }


def counted(user, name):
    return getattr(User.objects.get(id=user.id), name)


def first_password(user):
    for _ in range(5):
        login(user, "a wrong one", status=401)
    return counted(user, "wrong_passwords")


def with_second_step(user):
    enable_two_step(ApiClient(sign_in(user)[1]), user)
    return send_second_step(user)


def second_password(user, typed="a wrong one"):
    client = with_second_step(user)
    for _ in range(3):
        client.post(f"{AUTH}/two-step", {"password": typed}, status=401)
    return counted(user, "wrong_second_passwords")


def recovery_code(user):
    client = with_second_step(user)
    for _ in range(3):
        client.post(f"{AUTH}/two-step/forgot", {"recovery_code": "0000-0000-0000-0000"}, status=401)
    # It limits nothing: its owner may still need one.
    client.post(f"{AUTH}/two-step", {"password": SECOND})
    return RateCount.objects.get().count


def mailed_code(purpose):
    def guess(user):
        User.objects.filter(id=user.id).update(failed_codes=19, failed_codes_day=timezone.now().date())
        right = codes.issue(user=user, purpose=purpose, address=user.email)
        wrong = str((int(right) + 1) % 10 ** len(right)).zfill(len(right))
        with pytest.raises(codes.InvalidOtp):
            codes.check(user=user, purpose=purpose, address=user.email, text=wrong)
        return counted(user, "failed_codes") - 19

    return guess


def mailed_second_step(user):
    client = with_second_step(user)
    client.post(f"{AUTH}/resend-two-step")
    for _ in range(3):
        client.post(f"{AUTH}/two-step", {"password": "00000000"}, status=401)
    assert counted(user, "failed_codes") == 3
    return counted(user, "wrong_second_passwords")


def app_code(typed):
    def guess(user):
        User.objects.filter(id=user.id).update(is_staff=True)
        TOTPDevice.objects.create(user=user, confirmed=True, name="app")
        for _ in range(3):
            Client().post("/admin/login/", {"username": user.email, "password": PASSWORD, "code": typed})
        return counted(user, "wrong_staff_codes")

    return guess


def old_token(user):
    session, first = sign_in(user)
    sessions.refresh(sessions.refresh(first))
    ApiClient(first).post(f"{AUTH}/refresh", status=401)
    return Session.objects.get(id=session.id).ended_reason == "reuse"


GUESSES = {
    "first password, at `login` and the support pages": first_password,
    "second password": second_password,
    "recovery code": recovery_code,
    "mailed code `two_step`": mailed_second_step,
    "app code of staff": app_code("000000"),
    "static code of staff": app_code("abcdefgh"),
    "old token of a session, at `refresh`": old_token,
} | {f"mailed code `{purpose}`": mailed_code(purpose) for purpose in ("signup", "reset", "change_email")}


@pytest.mark.once
def test_the_table_has_every_purpose_of_a_mailed_code():
    purposes = {*Code.Purpose, *(purpose_of(action).split(":")[0] for action in Action)}
    listed = {found[1] for secret in rows() if (found := re.search(r"mailed code `(\w+)`", secret))}
    assert listed == purposes
    assert rows().keys() == GUESSES.keys() | {"mailed code `action`"}
    assert {mail for mail, _row in rows().values()} <= EMAIL_TEXTS.keys()
    assert {row for _mail, row in rows().values()} <= audit.names().keys()


@pytest.mark.parametrize(
    ("secret", "guess"),
    [*GUESSES.items(), *(("mailed code `action`", mailed_code(purpose_of(action))) for action in Action)],
)
def test_a_wrong_one_is_counted_mailed_and_audited(alice, mailoutbox, secret, guess):
    mail, row = rows()[secret]
    assert guess(alice), "not counted on the account"
    assert str(EMAIL_TEXTS[mail].subject) in [sent.subject for sent in mailoutbox if sent.to == [alice.email]]
    entries = AuditEntry.objects.filter(action=row, target=alice)
    assert entries.exists()
    assert not [entry for entry in entries if "0000" in str(entry.details)], "a guess is not stored"


# --- codes of staff: a thief of the password is noticed, and does not keep the owner out -----------------


@pytest.fixture
def agent(db, settings):
    settings.CORE_TRUSTED_PROXIES = 1
    user = staff(is_superuser=True)
    TOTPDevice.objects.create(user=user, confirmed=True, name="app")
    return user


def enter(user, code, address):
    form = {"username": user.email, "password": PASSWORD, "code": code}
    return Client(headers={"X-Forwarded-For": address}).post("/admin/login/", form).status_code


def right_code(user):
    device = TOTPDevice.objects.get(user=user)
    TOTPDevice.objects.filter(id=device.id).update(last_t=-1)
    return code_of(device)


def test_wrong_codes_from_many_networks_do_not_keep_the_owner_out(agent, mailoutbox):
    assert [enter(agent, "000000", f"198.51.100.{number}") for number in range(1, 13)] == [200] * 12
    assert AuditEntry.objects.filter(action="admin.code_refused", target=agent).count() == 12
    assert len([sent for sent in mailoutbox if sent.subject == "Wrong app codes for your account"]) == 8
    assert enter(agent, right_code(agent), "192.0.2.1") == 302
    assert counted(agent, "wrong_staff_codes") == 12


def test_one_network_has_ten_codes_an_hour(agent, monkeypatch):
    statuses = [enter(agent, "000000", "198.51.100.7") for _ in range(12)]
    assert statuses == [200] * 10 + [429] * 2
    assert enter(agent, right_code(agent), "198.51.100.7") == 429
    assert enter(agent, right_code(agent), "192.0.2.1") == 302


def test_all_unknown_networks_have_a_hundred_a_day_and_known_ones_their_own(agent):
    assert enter(agent, right_code(agent), "192.0.2.1") == 302
    User.objects.filter(id=agent.id).update(wrong_staff_codes=100, wrong_staff_codes_day=timezone.now().date())
    assert enter(agent, right_code(agent), "198.51.100.7") == 429
    assert enter(agent, right_code(agent), "192.0.2.1") == 302


def test_a_right_code_takes_its_try_back_and_an_empty_one_is_none(agent, mailoutbox):
    assert enter(agent, "", "192.0.2.1") == 200
    assert enter(agent, right_code(agent), "192.0.2.1") == 302
    assert counted(agent, "wrong_staff_codes") == 0
    assert not AuditEntry.objects.filter(action="admin.code_refused").exists()


def test_a_code_is_not_compared_after_a_wrong_password(agent):
    form = {"username": agent.email, "password": "wrong", "code": "000000"}
    assert Client().post("/admin/login/", form).status_code == 200
    assert counted(agent, "wrong_staff_codes") == 0


def test_an_account_without_staff_rights_has_no_app_codes(db):
    user = make_user("Una")
    Client().post("/admin/login/", {"username": user.email, "password": PASSWORD, "code": "000000"})
    assert counted(user, "wrong_staff_codes") == 0


# --- what staff types ----------------------------------------------------------------------------------


def reason_forms(base=ReasonForm):
    yield base
    for form in base.__subclasses__():
        yield from reason_forms(form)


def test_every_form_that_asks_for_a_reason_says_that_the_user_can_read_it():
    admin.autodiscover()
    forms = list(reason_forms())
    assert len(forms) > 2
    for form in forms:
        assert "The user can read this reason" in str(form.base_fields["reason"].help_text), form


def test_the_reason_is_in_the_export_and_the_page_says_so(alice):
    support = admin_client(staff("Support"))
    page = support.post("/admin/accounts/user/", {"action": "block", "_selected_action": [alice.id]}).content.decode()
    assert "The user can read this reason" in page
    account_status.block(user=alice, reason="spam in three conversations", actor="test")
    with export.archive(user_id=alice.id) as file, zipfile.ZipFile(file) as zipped:
        assert "spam in three conversations" in zipped.read("account/log.json").decode()
        assert "spam in three conversations" in zipped.read("account/profile.json").decode()
