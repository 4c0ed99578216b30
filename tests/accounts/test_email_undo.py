"""The way back after a change of the address gives the account back, not only the address."""

import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from accounts.models import RecoveryCode, User
from accounts.services import erasure
from accounts.sign_in import sessions
from tests.accounts.steps import SECOND, act, enable_two_step, login
from tests.accounts.test_change_email import NEW, move, undo_link
from tests.client import ApiClient
from tests.factories import PASSWORD, sign_in
from tests.parallel import parallel_outcomes

THIEFS = "copper meadow 58"
THIEFS_SECOND = "granite orchard 12"
OWNERS = "amber window 77"
LOGIN = "/api/v1/auth/login"


def change_password(client, user):
    body = act(
        client, user, "change_password", "change-password", {"current_password": PASSWORD, "new_password": THIEFS}
    )
    return ApiClient(body["token"])


def with_two_step_for_days(user):
    """A client of the user, who has had two-step verification for three days."""
    with time_machine.travel(timezone.now() - timedelta(days=3)):
        _, token = sign_in(user)
        client = ApiClient(token)
        enable_two_step(client, user, SECOND)
    return client


def go(link, **form):
    """A POST as a browser without JavaScript sends it."""
    return ApiClient().raw("POST", link, urlencode(form), content_type="application/x-www-form-urlencoded")


def password_token(page):
    assert page.status_code == 200, page.content
    html = page.content.decode()
    assert 'type="password"' in html and 'name="new_password"' in html
    # One script, and none in the page itself.
    assert html.count("<script") == html.count('<script src="/static/accounts/once.') == 1
    return re.search(r'name="password_token" value="([\w-]+)"', html)[1]


@pytest.mark.parametrize("order", ["before", "after"])
def test_what_a_thief_set_goes_and_the_owner_chooses_a_password(alice, as_alice, order):
    old = alice.email
    thief = as_alice
    if order == "before":
        thief = change_password(thief, alice)
        enable_two_step(thief, alice, THIEFS_SECOND)
    move(thief, alice)
    alice.refresh_from_db()
    if order == "after":
        thief = change_password(thief, alice)
        enable_two_step(thief, alice, THIEFS_SECOND)
    link = undo_link(old)
    page = go(link)
    token = password_token(page)
    for address in (old, NEW):
        for password in (THIEFS, PASSWORD):
            ApiClient().post(LOGIN, {"email": address, "password": password}, status=401)
    assert not RecoveryCode.objects.filter(user=alice).exists()
    chosen = go(link, password_token=token, new_password=OWNERS)
    assert chosen.status_code == 200
    assert old in chosen.content.decode()
    body = ApiClient().post(LOGIN, {"email": old, "password": OWNERS})
    assert body.keys() == {"ok", "token", "expires_at", "user"}  # no second step is in the way
    assert thief.get("/api/v1/auth/me", status=401)["error"] == "token_revoked"


def test_a_deletion_that_a_thief_scheduled_is_cancelled(alice, as_alice):
    old = alice.email
    move(as_alice, alice)
    alice.refresh_from_db()
    act(as_alice, alice, "delete_account", "delete-account", {})
    go(undo_link(old))
    assert erasure.erase_due(now=timezone.now() + timedelta(days=15), batch=10) == 0
    alice.refresh_from_db()
    assert (alice.email, alice.erase_after) == (old, None)


def test_both_addresses_are_notified(alice, as_alice):
    old = alice.email
    move(as_alice, alice)
    link = undo_link(old)
    mail.outbox.clear()
    go(link)
    assert [(sent.to, sent.subject) for sent in mail.outbox] == [
        ([NEW], "This is no longer the address of your account"),
        ([old], "The change of your e-mail address was undone"),
    ]


def test_credentials_of_long_ago_stay(alice, as_alice):
    now = timezone.now()
    with time_machine.travel(now - timedelta(days=3)):
        _, token = sign_in(alice)
        client = change_password(ApiClient(token), alice)
        codes = enable_two_step(client, alice, SECOND)
    old = alice.email
    move(client, alice)
    link = undo_link(old)
    password_token(go(link))
    alice.refresh_from_db()
    assert alice.two_step_enabled
    body = login(alice, THIEFS)
    assert body["two_step_required"]
    ApiClient(body["two_step_token"]).post("/api/v1/auth/two-step/forgot", {"recovery_code": codes[0]})


def test_recovery_codes_made_since_go_and_the_second_password_stays(alice, as_alice):
    client = with_two_step_for_days(alice)
    old = alice.email
    move(client, alice)
    alice.refresh_from_db()
    thiefs = act(client, alice, "recovery_codes", "two-step/recovery-codes")["recovery_codes"]
    go(undo_link(old))
    alice.refresh_from_db()
    pending = login(alice)["two_step_token"]
    body = ApiClient(pending).post("/api/v1/auth/two-step/forgot", {"recovery_code": thiefs[0]}, status=401)
    assert body["error"] == "invalid_two_step"
    assert "token" in ApiClient(pending).post("/api/v1/auth/two-step", {"password": SECOND})


def test_a_weak_password_shows_the_form_again(alice, as_alice):
    old = alice.email
    move(as_alice, alice)
    link = undo_link(old)
    token = password_token(go(link))
    for weak in ("short", "password1", "alicearcher", "", "x" * 257, "a\x00" * 8):
        page = go(link, password_token=token, new_password=weak)
        assert page.status_code == 400
        html = page.content.decode()
        assert 'role="alert"' in html and token in html and "Traceback" not in html
        assert 'value="' + token in html and html.count("value=") == 1  # a password is not sent back
    assert go(link, password_token=token, new_password=OWNERS).status_code == 200
    assert go(link, password_token=token, new_password=OWNERS).status_code == 404


def test_a_mailbox_alone_does_not_open_both_steps(alice, as_alice):
    client = with_two_step_for_days(alice)
    old = alice.email
    move(client, alice)
    link = undo_link(old)
    go(link, password_token=password_token(go(link)), new_password=OWNERS)
    alice.refresh_from_db()
    pending = ApiClient(login(alice, OWNERS)["two_step_token"])
    mail.outbox.clear()
    pending.post("/api/v1/auth/resend-two-step")
    assert mail.outbox[-1].subject == "No code for the second step yet"


@pytest.mark.parametrize("token", ["", "nonsense", "x" * 5000, "\x00"])
def test_what_is_no_token_is_a_page(alice, as_alice, token):
    page = go("/email-undo/anything", password_token=token, new_password=OWNERS)
    assert (page.status_code, page["Content-Type"][:9]) == (404, "text/html")


def test_an_address_that_an_operator_has_given_away_is_a_page(alice, as_alice):
    old = alice.email
    move(as_alice, alice)
    link = undo_link(old)
    User.objects.create_superuser(email=old, password=OWNERS, first_name="Root")
    page = go(link)
    assert (page.status_code, page["Content-Type"][:9]) == (409, "text/html")
    assert "This e-mail address is already registered." in page.content.decode()
    assert as_alice.get("/api/v1/auth/me")["user"]["email"] == NEW


def test_the_page_waits_an_hour(alice, as_alice):
    old = alice.email
    move(as_alice, alice)
    link = undo_link(old)
    token = password_token(go(link))
    with time_machine.travel(timezone.now() + timedelta(minutes=61)):
        assert go(link, password_token=token, new_password=OWNERS).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_one_chooses(alice, as_alice):
    old = alice.email
    move(as_alice, alice)
    link = undo_link(old)
    token = password_token(go(link))
    got = parallel_outcomes(6, lambda number: go(link, password_token=token, new_password=f"{OWNERS} {number}"))
    assert sorted(answer.status_code for answer in got) == [200] + [404] * 5
    [winner] = [number for number, answer in enumerate(got) if answer.status_code == 200]
    assert User.objects.get(id=alice.id).check_password(f"{OWNERS} {winner}")
    assert sessions.revoke_all(user_id=alice.id, reason="test") == 0
