"""The support pages, as a staff member meets them."""

import csv
import io
import re

import pytest
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import AuditEntry, Session, TrustedDevice, User
from accounts.services import account_status
from accounts.staff.actions import _cell
from accounts.staff.users import UserAdmin
from tests.factories import PASSWORD, make_user, sign_in
from tests.staff import admin_client, code_of, staff

PAGES = [
    "/admin/",
    "/admin/accounts/user/",
    "/admin/accounts/session/",
    "/admin/accounts/trusteddevice/",
    "/admin/accounts/code/",
    "/admin/accounts/block/",
    "/admin/accounts/auditentry/",
]


@pytest.fixture
def support(db):
    return admin_client(staff("Support"))


def test_without_a_second_factor_no_page_opens(db):
    user = staff(is_superuser=True)
    client = Client()
    answer = client.post("/admin/login/", {"username": user.email, "password": PASSWORD})
    assert answer.headers["Location"] == "/admin/second-factor/"
    for page in PAGES:
        assert client.get(page).status_code == 302
    setup = client.get("/admin/second-factor/")
    assert b"data:image/svg+xml;base64," in setup.content
    wrong = client.post("/admin/second-factor/", {"code": "000000"})
    assert b'class="errorlist"' in wrong.content
    done = client.post("/admin/second-factor/", {"code": code_of(TOTPDevice.objects.get())})
    assert len(re.findall(rb"<li>[a-z2-7]{16}</li>", done.content)) == 10
    for page in PAGES:
        assert client.get(page).status_code == 200


def test_a_password_alone_does_not_replace_the_second_factor(db):
    user = staff(is_superuser=True)
    TOTPDevice.objects.create(user=user, confirmed=True, name="app")
    client = Client()
    answer = client.post("/admin/login/", {"username": user.email, "password": PASSWORD})
    assert answer.status_code == 200
    assert client.get("/admin/second-factor/").status_code == 302
    assert client.get("/admin/").status_code == 302


def test_a_code_opens_once(db):
    user = staff(is_superuser=True)
    device = TOTPDevice.objects.create(user=user, confirmed=True, name="app")
    form = {"username": user.email, "password": PASSWORD, "code": code_of(device)}
    assert Client().post("/admin/login/", form).status_code == 302
    assert Client().post("/admin/login/", form).status_code == 200


def test_the_admin_has_the_lock_out_of_every_sign_in(db):
    user = staff(is_superuser=True)
    for _ in range(5):
        Client().post("/admin/login/", {"username": user.email, "password": "wrong"})
    user.refresh_from_db()
    assert user.locked_until is not None
    answer = Client().post("/admin/login/", {"username": user.email, "password": PASSWORD})
    assert (answer.status_code, answer["Retry-After"]) == (429, "60")
    assert b"Too many wrong attempts" in answer.content


def test_people_who_are_not_staff_do_not_get_in(alice):
    answer = Client().post("/admin/login/", {"username": alice.email, "password": PASSWORD})
    assert answer.status_code == 200
    assert b'class="errorlist"' in answer.content


@pytest.mark.parametrize(
    "found_by",
    [
        lambda u: str(u.id),
        lambda u: u.email,
        lambda u: u.username[:4],
        lambda u: "archer",
        lambda u: "Alice Archer",
        lambda u: "alice a",
    ],
)
def test_a_person_is_found_by_what_a_caller_says(support, alice, bob, found_by):
    page = support.get("/admin/accounts/user/", {"q": found_by(alice)}).content.decode()
    assert alice.email in page
    assert bob.email not in page


def test_a_person_is_found_by_an_address_as_people_write_it(support, db):
    person = make_user("Vera", email="vera@xn--bcher-kva.example")
    page = support.get("/admin/accounts/user/", {"q": "Vera@bücher.example"})
    assert [user.id for user in page.context["cl"].result_list] == [person.id]


@pytest.mark.parametrize("whose", ["own", "erased"])
def test_rights_of_the_own_and_of_an_erased_account_stay(alice, whose):
    root = staff(is_superuser=True)
    client = admin_client(root)
    account_status.erase(user=alice, actor="test")
    person = {"own": root, "erased": alice}[whose]
    address = f"/admin/accounts/user/{person.id}/change/"
    page = client.get(address)
    assert page.status_code == 200 and 'name="reason"' not in page.content.decode()
    before = User.objects.filter(id=person.id).values().get()
    assert client.post(address, {"is_staff": "on", "reason": "by mistake"}).status_code == 403
    assert User.objects.filter(id=person.id).values().get() == before


def test_rights_are_granted_while_the_account_changes(alice, monkeypatch):
    """The form writes its own columns: what others wrote since it read the row stays."""
    save_form = UserAdmin.save_form

    def later(*args, **options):
        account_status.block(user=alice, actor="test", reason="spam")
        User.objects.filter(id=alice.id).update(password="new")
        return save_form(*args, **options)

    monkeypatch.setattr(UserAdmin, "save_form", later)
    address = f"/admin/accounts/user/{alice.id}/change/"
    assert admin_client(staff(is_superuser=True)).post(address, {"is_staff": "on", "reason": "new"}).status_code == 302
    alice.refresh_from_db()
    assert alice.is_staff and alice.password == "new" and alice.blocked_at is not None


def test_blocking_asks_first_then_ends_every_sign_in(support, alice, anonymous):
    session, _token = sign_in(alice)
    chosen = {"action": "block", "_selected_action": [alice.id]}
    page = support.post("/admin/accounts/user/", chosen).content.decode()
    assert "All sessions end immediately" in page
    assert not User.objects.get(id=alice.id).blocked_at
    without_reason = support.post("/admin/accounts/user/", chosen | {"confirmed": "1", "reason": ""})
    assert b'class="errorlist"' in without_reason.content
    support.post("/admin/accounts/user/", chosen | {"confirmed": "1", "reason": "spam"})
    alice.refresh_from_db()
    assert alice.blocked_reason == "spam"
    assert Session.objects.get(id=session.id).ended_reason == "blocked"
    row = AuditEntry.objects.get(action="user.blocked")
    assert (row.target, row.reason) == (alice, "spam")
    body = anonymous.post("/api/v1/auth/login", {"email": alice.email, "password": PASSWORD}, status=403)
    assert body["error"] == "account_blocked"
    support.post(
        "/admin/accounts/user/",
        {"action": "unblock", "_selected_action": [alice.id], "confirmed": "1", "reason": "mistake"},
    )
    anonymous.post("/api/v1/auth/login", {"email": alice.email, "password": PASSWORD})


def test_a_block_by_a_colleague_is_shown_before_it_is_replaced(support, alice):
    chosen = {"action": "block", "_selected_action": [alice.id]}
    seen = support.post("/admin/accounts/user/", chosen).context["seen"]
    account_status.block(user=alice, actor="test", reason="threats")
    form = chosen | {"confirmed": "1", "reason": "spam", "seen": seen}
    page = support.post("/admin/accounts/user/", form)
    alice.refresh_from_db()
    assert alice.blocked_reason == "threats"
    assert "What you selected has changed meanwhile" in page.content.decode()
    assert "blocked until: –, reason for the block: threats" in page.content.decode()
    support.post("/admin/accounts/user/", form | {"seen": page.context["seen"]})
    alice.refresh_from_db()
    assert alice.blocked_reason == "spam"


def test_the_audit_log_cannot_be_changed_even_by_a_superuser(db):
    client = admin_client(staff(is_superuser=True))
    row = AuditEntry.objects.get()
    assert client.post(f"/admin/accounts/auditentry/{row.id}/change/", {"reason": "x"}).status_code == 403
    assert client.post(f"/admin/accounts/auditentry/{row.id}/delete/", {"post": "yes"}).status_code == 403
    assert client.get("/admin/accounts/auditentry/add/").status_code == 403


@pytest.mark.parametrize("formula", ["=HYPERLINK(1)", "+1+1", "-1+1", "@SUM(1)", "＝HYPERLINK(1)", "＋1+1"])
def test_a_download_makes_formulas_harmless(support, formula):
    person = make_user("Eve", last_name=formula)
    chosen = {"action": "download_csv", "_selected_action": [person.id], "confirmed": "1", "reason": "asked for"}
    answer = support.post("/admin/accounts/user/", chosen)
    assert f",'{formula}," in answer.content.decode()


def test_a_formula_behind_the_end_of_a_cell_in_another_country_is_harmless():
    """Where a comma is the decimal mark, spreadsheets separate cells by semicolons, also between quotes."""
    assert _cell("Eve;=HYPERLINK(1)") == "Eve;'=HYPERLINK(1)"
    assert _cell("a\n@SUM(1)\t＝1") == "a\n'@SUM(1)\t'＝1"
    assert _cell("\t=1") == "'\t'=1"
    assert [_cell(text) for text in (None, "", "a-b; c", 7)] == ["", "", "a-b; c", "7"]


# What spreadsheets skip before a formula.
UNSEEN = [
    "",
    " ",
    "   ",
    "\u00a0",
    "\u3000",
    "\u200b",
    "\ufeff",
    "\u2060",
    "\u00ad",
    "\u202e",
    "\x00",
    "\x1f",
    "\x0b",
    "\x85",
    " \u200b ",
]


@pytest.mark.once
@pytest.mark.parametrize("start", ["=", "+", "-", "@", "＝", "＋", "－", "＠", "﹢", "﹣", "﹦", "﹫"])
@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_no_cell_is_a_formula(start, unseen):
    text = f"{unseen}{start}cmd|'/c calc'!A1"
    assert _cell(text) == f"'{text}"


@pytest.mark.parametrize("end", ["\t", "\r", "\n", "\r\n", ";"])
def test_nor_what_follows_the_end_of_a_cell(end):
    assert _cell(f"Eve{end} =1+1").endswith("' =1+1")
    assert _cell(f"{end}=1+1").startswith("'")


def test_what_is_no_formula_stays():
    for text in ("Ann", "a=b", "1-2", "ann@example.org", "7", " Ann", "(+49) 1"):
        assert _cell(text) == text


def test_a_file_for_spreadsheets_says_that_it_is_utf_8(support):
    """Without the mark at the beginning, Excel shows Ж as Ð–."""
    person = make_user("Жанна")
    chosen = {"action": "download_csv", "_selected_action": [person.id], "confirmed": "1", "reason": "asked for"}
    content = support.post("/admin/accounts/user/", chosen).content
    assert content.startswith(b"\xef\xbb\xbf") and content.count(b"\xef\xbb\xbf") == 1
    [row] = csv.DictReader(io.StringIO(content.decode("utf-8-sig")))
    assert row["first_name"] == "Жанна"


def test_lists_never_count_a_whole_table(support):
    for _ in range(3):
        make_user()
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        support.get("/admin/accounts/user/")
    assert not [q["sql"] for q in queries if "COUNT(*)" in q["sql"].upper() and "LIMIT" not in q["sql"].upper()]
    assert len(queries) < 20


def test_pages_are_clean_under_the_content_policy(support):
    """No inline script, style or handler: the policy would stop it."""
    for page in ("/admin/", "/admin/accounts/user/"):
        answer = support.get(page)
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
        text = answer.content.decode()
        assert not re.search(r"<script(?![^>]*\b(src|type=.application/json))", text)
        assert not re.search(r"\sstyle=|\son[a-z]+=|<style", text)


def test_passwords_are_not_changed_here(support, alice):
    for path in ("password_change/", "password_change/done/", "autocomplete/?term=", "r/1/1/"):
        assert support.get(f"/admin/{path}").status_code == 404
        assert support.post(f"/admin/{path}", {"new_password1": "x"}).status_code == 404
    assert "password_change" not in support.get("/admin/").content.decode()


def test_no_page_shows_the_key_of_a_second_factor(db):
    client = admin_client(staff(is_superuser=True))
    device = TOTPDevice.objects.get()
    shown = client.get(f"/admin/otp_totp/totpdevice/{device.pk}/change/")
    assert shown.status_code == 200
    assert device.key.encode() not in shown.content
    for path in ("config", "qrcode"):
        answer = client.get(f"/admin/otp_totp/totpdevice/{device.pk}/{path}/", follow=True)
        assert answer.redirect_chain[-1][0] == "/admin/"
        assert device.key.encode() not in answer.content


@pytest.mark.parametrize("action", ["block", "unlock", "sign_out", "reset_two_step", "erase"])
def test_staff_do_not_shut_out_each_other_nor_themselves(support, action):
    agent = User.objects.get(is_staff=True)
    other = staff("Auditor", second_password="argon2$never-compared")
    form = {"action": action, "confirmed": "1", "reason": "in the way"}
    User.objects.filter(id=agent.id).update(second_password="argon2$never-compared")
    before = AuditEntry.objects.count()
    for person, message in ((other, "Only a superuser"), (agent, "This is your own account")):
        answer = support.post("/admin/accounts/user/", form | {"_selected_action": [person.id]}, follow=True)
        assert message in answer.content.decode()
    assert AuditEntry.objects.count() == before
    assert not User.objects.filter(is_staff=True, blocked_at__isnull=False).exists()
    root = admin_client(staff(is_superuser=True))
    root.post("/admin/accounts/user/", form | {"_selected_action": [other.id]})
    assert AuditEntry.objects.latest("id").reason == "in the way"


def test_buttons_are_offered_only_for_accounts_that_the_staff_member_may_change(support, alice):
    agent, other, root = User.objects.get(is_staff=True), staff("Auditor"), staff(is_superuser=True)
    changes = {"block", "sign_out", "reset_two_step", "end", "forget"}

    def offered(client, person):
        User.objects.filter(id=person.id).update(second_password="argon2$never-compared")
        session, token = sign_in(person)
        device = TrustedDevice.objects.create(user=person, digest=token[-60:], expires_at=session.expires_at)
        pages = [f"user/{person.id}", f"session/{session.id}", f"trusteddevice/{device.id}"]
        shown = "".join(client.get(f"/admin/accounts/{page}/change/").content.decode() for page in pages)
        return {action for action in changes if f'value="{action}"' in shown}

    assert offered(support, alice) == offered(admin_client(root), other) == changes
    assert offered(support, other) == offered(support, root) == offered(support, agent) == set()


def test_who_lost_phone_and_codes_starts_anew(support):
    agent = User.objects.get(is_staff=True)
    device = TOTPDevice.objects.get(user=agent)
    root = admin_client(staff(is_superuser=True))
    form = {"action": "remove", "_selected_action": [device.pk], "confirmed": "1", "reason": "lost the phone"}
    root.post("/admin/otp_totp/totpdevice/", form)
    assert AuditEntry.objects.get(action="admin.second_factor_removed").target == agent
    assert support.get("/admin/").status_code == 302
    answer = Client().post("/admin/login/", {"username": agent.email, "password": PASSWORD})
    assert answer.headers["Location"] == "/admin/second-factor/"


def test_the_audit_log_knows_where_staff_sat(support, alice, settings):
    settings.CORE_TRUSTED_PROXIES = 1
    form = {"action": "unlock", "_selected_action": [alice.id], "confirmed": "1", "reason": "asked"}
    support.post("/admin/accounts/user/", form, headers={"X-Forwarded-For": "198.51.100.9, 192.0.2.44"})
    assert AuditEntry.objects.get(action="user.unlocked").ip == "192.0.2.44"
