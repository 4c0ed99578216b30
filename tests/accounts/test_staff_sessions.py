"""Sessions of the support pages are sessions of the account, and second factors of staff are added by their owner."""

import base64
import re

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import AuditEntry, Session, TrustedDevice, User
from accounts.services import account_status
from accounts.sign_in import trusted_devices
from tests.accounts.steps import SECOND, act, enable_two_step, last_code
from tests.client import ApiClient
from tests.factories import PASSWORD, sign_in
from tests.parallel import parallel_outcomes
from tests.staff import admin_client, code_of, staff

SESSIONS = "/api/v1/auth/sessions"
NEW = "amber window 77"
FACTOR = "/admin/second-factor/"


@pytest.fixture
def agent(db):
    return staff("Support")


@pytest.fixture
def support(agent):
    return admin_client(agent)


@pytest.fixture
def phone(agent):
    """The app of the same staff member."""
    return ApiClient(sign_in(agent)[1])


def is_open(client):
    return client.get("/admin/").status_code == 200


def test_it_is_listed_with_the_others_and_ended_by_its_id(support, phone):
    rows = phone.get(SESSIONS)["sessions"]
    assert [(row["is_current"], row["device_name"]) for row in rows if not row["is_current"]] == [
        (False, "support pages")
    ]
    row = next(row for row in rows if not row["is_current"])
    assert row.keys() == {
        "id",
        "device_name",
        "ip",
        "user_agent",
        "created_at",
        "last_used_at",
        "is_current",
        "opened_by",
    }
    assert is_open(support)
    phone.delete(f"{SESSIONS}/{row['id']}")
    assert not is_open(support)
    assert len(phone.get(SESSIONS)["sessions"]) == 1


def _change_password(agent, phone):
    act(phone, agent, "change_password", "change-password", {"current_password": PASSWORD, "new_password": NEW})


def _reset(agent, phone):
    ApiClient().post("/api/v1/auth/forgot-password", {"email": agent.email})
    data = {"email": agent.email, "code": last_code(agent.email), "new_password": NEW}
    ApiClient().post("/api/v1/auth/verify-reset", data)


ENDINGS = {
    "revoke-others": lambda agent, phone: phone.post(f"{SESSIONS}/revoke-others"),
    "manage.py revoke_sessions": lambda agent, phone: call_command("revoke_sessions", agent.email, "--yes"),
    "a superuser": lambda agent, phone: account_status.sign_out_everywhere(user=agent, actor=staff(is_superuser=True)),
    "a block": lambda agent, phone: account_status.block(user=agent, reason="left", actor="test"),
    "a new password": _change_password,
    "a reset": _reset,
}


@pytest.mark.parametrize("how", ENDINGS)
def test_what_ends_sessions_ends_it(support, agent, phone, how):
    assert is_open(support)
    ENDINGS[how](agent, phone)
    assert not is_open(support)
    assert support.get("/admin/accounts/user/").status_code == 302
    assert not Session.objects.filter(user=agent, kind="admin", ended_at=None).exists()


def test_signing_out_ends_its_row(support, agent):
    support.post("/admin/logout/")
    assert Session.objects.get(user=agent, kind="admin").ended_reason == "logout"
    assert not is_open(support)


def test_a_cookie_without_a_row_opens_nothing(support, agent):
    Session.objects.filter(user=agent).delete()
    assert not is_open(support)
    assert support.get(FACTOR).headers["Location"] == "/admin/login/"


def test_a_sign_in_from_elsewhere_is_announced(agent, support):
    device = TOTPDevice.objects.get(user=agent)
    device.last_t = -1
    device.save()
    mail.outbox.clear()
    form = {"username": agent.email, "password": PASSWORD, "code": code_of(device)}
    Client(headers={"User-Agent": "Elsewhere/1"}).post("/admin/login/", form)
    assert [(sent.to, sent.subject) for sent in mail.outbox] == [([agent.email], "New sign-in to your account")]


# --- Of whom a staff member may end sign-ins ----------------------------------------------------


def _ask(client, model, action, row):
    form = {"action": action, "_selected_action": [row.pk], "confirmed": "1", "reason": "in the way"}
    return client.post(f"/admin/accounts/{model}/", form, follow=True).content.decode()


@pytest.mark.parametrize("group", ["Support", "Operations"])
@pytest.mark.parametrize("of", ["superuser", "staff", "customer", "own"])
def test_sign_ins_and_devices_of_staff_are_a_superusers_matter(group, of, alice):
    agent = staff(group)
    client = admin_client(agent)
    others = {"superuser": {"is_superuser": True}, "staff": {}}
    owner = {"customer": alice, "own": agent}.get(of) or staff("Auditor", **others[of])
    session, token = sign_in(owner)
    device, _ = trusted_devices.remember_device(user=owner)
    may = agent.has_perm("accounts.sign_out_user") and of == "customer"
    audited = AuditEntry.objects.count()
    _ask(client, "session", "end", session)
    _ask(client, "trusteddevice", "forget", device)
    ApiClient(token).get("/api/v1/auth/me", status=401 if may else 200)
    assert TrustedDevice.objects.filter(id=device.id).exists() is not may
    assert AuditEntry.objects.count() == audited + 2 * may


def test_a_superuser_ends_sign_ins_of_staff(agent):
    root = admin_client(staff(is_superuser=True))
    session, token = sign_in(agent)
    assert "Done: " in _ask(root, "session", "end", session)
    assert "has already ended" in _ask(root, "session", "end", session)
    ApiClient(token).get("/api/v1/auth/me", status=401)
    assert AuditEntry.objects.filter(action="session.ended", target=agent).count() == 1


# --- Adding the second factor -------------------------------------------------------------------


def newcomer(user):
    client = Client()
    answer = client.post("/admin/login/", {"username": user.email, "password": PASSWORD})
    assert answer.headers["Location"] == FACTOR
    return client


def shown_key(page):
    match = re.search(r'class="secret">([A-Z2-7]+)<', page.content.decode())
    return match[1] if match else None


def app_code(key):
    return f"{totp(base64.b32decode(key)):06d}"


def test_the_owner_is_notified(agent):
    client = newcomer(agent)
    client.post(FACTOR, {"code": app_code(shown_key(client.get(FACTOR)))})
    assert is_open(client)
    assert mail.outbox[-1].to == [agent.email]
    assert mail.outbox[-1].subject == "An authenticator app was added for the support pages"
    root = admin_client(staff(is_superuser=True))
    device = TOTPDevice.objects.get(user=agent)
    form = {"action": "remove", "_selected_action": [device.pk], "confirmed": "1", "reason": "lost the phone"}
    root.post("/admin/otp_totp/totpdevice/", form)
    assert not is_open(client)
    assert (mail.outbox[-1].to, mail.outbox[-1].subject) == (
        [agent.email],
        "The authenticator app for the support pages was removed",
    )
    assert not Session.objects.filter(user=agent, kind="admin", ended_at=None).exists()


def test_an_account_with_a_second_password_proves_it_first(agent, phone):
    enable_two_step(phone, agent)
    client = newcomer(agent)
    page = client.get(FACTOR)
    assert shown_key(page) is None
    assert b"data:image" not in page.content
    assert not TOTPDevice.objects.filter(user=agent).exists()
    # A code for an app that was never shown, and wrong second passwords, are refused.
    for wrong in ({"code": "000000"}, {"second_password": "wrong"}, {"second_password": PASSWORD}):
        answer = client.post(FACTOR, wrong)
        assert answer.status_code == 200
        assert b'class="errorlist"' in answer.content
        assert shown_key(answer) is None
    agent.refresh_from_db()
    assert agent.wrong_second_passwords == 2
    assert client.post(FACTOR, {"second_password": SECOND}).headers["Location"] == FACTOR
    key = shown_key(client.get(FACTOR))
    client.post(FACTOR, {"code": app_code(key)})
    assert is_open(client)
    # With the first password alone nothing has changed.
    other = Client()
    other.post("/admin/login/", {"username": agent.email, "password": PASSWORD})
    assert not is_open(other)


def test_guesses_at_it_are_counted_with_all_others(agent, phone):
    enable_two_step(phone, agent)
    User.objects.filter(id=agent.id).update(
        wrong_second_passwords=10, wrong_second_passwords_day=Session.objects.latest("id").created_at.date()
    )
    client = newcomer(agent)
    answer = client.post(FACTOR, {"second_password": SECOND})
    assert b'class="errorlist"' in answer.content
    assert shown_key(client.get(FACTOR)) is None


def test_a_key_that_an_earlier_visitor_saw_is_not_put_to_use(agent):
    visitor, owner = newcomer(agent), newcomer(agent)
    seen = shown_key(visitor.get(FACTOR))
    assert shown_key(visitor.get(FACTOR)) == seen
    key = shown_key(owner.get(FACTOR))
    assert key != seen
    owner.post(FACTOR, {"code": app_code(key)})
    assert is_open(owner)
    visitor.post(FACTOR, {"code": app_code(seen)})
    assert not is_open(visitor)
    assert TOTPDevice.objects.filter(user=agent).count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_adds_an_app(agent):
    clients = [newcomer(agent) for _ in range(2)]
    keys = []
    for client in clients:
        client.get(FACTOR)
    # Both have a device that waits: the pages were opened at the same moment.
    for client in clients:
        device = TOTPDevice.objects.create(user=agent, confirmed=False, name="app")
        session = client.session
        session["second_factor_pending"] = device.pk
        session.save()
        keys.append(device)
    got = parallel_outcomes(2, lambda number: clients[number].post(FACTOR, {"code": code_of(keys[number])}))
    assert not [answer for answer in got if isinstance(answer, BaseException)], got
    assert TOTPDevice.objects.filter(user=agent, confirmed=True).count() == 1
    assert sorted(is_open(client) for client in clients) == [False, True]
