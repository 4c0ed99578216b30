"""A token ahead of its session's row: a restore or a copy of the database that took over has lost the row's last changes."""

import pytest

from accounts.models import Session, User
from accounts.sign_in import sessions
from accounts.tokens import SessionToken
from tests.accounts.steps import act, enable_two_step
from tests.client import ApiClient
from tests.contract.test_token_matrix import forged
from tests.factories import PASSWORD, sign_in
from tests.parallel import parallel_outcomes

AUTH = "/api/v1/auth"
ROTATIONS = [1, 2, 5]


class Backup:
    """The row of a session as it was."""

    def __init__(self, session):
        self._values = Session.objects.filter(id=session.id).values().get()

    def restore(self):
        Session.objects.filter(id=self._values["id"]).update(**self._values)


def rotated(token, times, *, used=True):
    for _ in range(times):
        token = sessions.refresh(token)
        if used:
            sessions.authenticate(token)
    return token


def generation_of(session):
    return Session.objects.get(id=session.id).generation


@pytest.mark.parametrize("times", ROTATIONS)
@pytest.mark.parametrize("used", [True, False])
def test_it_is_accepted_and_the_row_follows(alice, mailoutbox, clock, times, used):
    session, first = sign_in(alice)
    backup = Backup(session)
    clock.forward(days=1)
    token = rotated(first, times, used=used)
    backup.restore()
    client = ApiClient(token)
    client.get(f"{AUTH}/me")
    row = Session.objects.get(id=session.id)
    assert row.generation == 1 + times
    assert row.token_expires_at >= SessionToken(token).expires_at
    following = client.post(f"{AUTH}/refresh")["token"]
    ApiClient(following).get(f"{AUTH}/me")
    assert generation_of(session) == 2 + times
    assert not mailoutbox and Session.objects.get(id=session.id).ended_at is None


@pytest.mark.parametrize("times", ROTATIONS)
def test_a_refresh_alone_goes_on_from_the_token(alice, mailoutbox, times):
    session, first = sign_in(alice)
    backup = Backup(session)
    token = rotated(first, times)
    backup.restore()
    following = ApiClient(token).post(f"{AUTH}/refresh")["token"]
    assert SessionToken(following).generation == generation_of(session) == 2 + times
    # A lost reply to it is answered as ever.
    assert SessionToken(sessions.refresh(token)).generation == 2 + times
    ApiClient(following).get(f"{AUTH}/me")
    assert not mailoutbox


def test_a_copy_older_than_the_row_is_reuse_as_ever(alice, mailoutbox):
    session, first = sign_in(alice)
    backup = Backup(session)
    token = rotated(first, 3)
    backup.restore()
    sessions.authenticate(token)
    ApiClient(first).post(f"{AUTH}/refresh", status=401)
    assert Session.objects.get(id=session.id).ended_reason == "reuse"
    assert [mail.subject for mail in mailoutbox] == ["One of your sessions was ended"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["me", "refresh", "both"])
def test_many_at_once(alice, mailoutbox, path):
    session, first = sign_in(alice)
    backup = Backup(session)
    token = rotated(first, 4)
    backup.restore()

    def use(number):
        asks = path == "me" or (path == "both" and number % 2)
        return ApiClient(token).raw(*(("GET", f"{AUTH}/me") if asks else ("POST", f"{AUTH}/refresh"))).status_code

    assert parallel_outcomes(12, use) == [200] * 12
    assert generation_of(session) == (5 if path == "me" else 6)
    assert not mailoutbox and Session.objects.get(id=session.id).ended_at is None


def test_two_tokens_ahead_of_one_row_lead_it_to_the_newest(alice, mailoutbox):
    session, first = sign_in(alice)
    backup = Backup(session)
    third = rotated(first, 2)
    fourth = rotated(third, 1)
    backup.restore()
    for token in (fourth, third, fourth):  # the one before the newest has its minute
        sessions.authenticate(token)
    assert generation_of(session) == 4
    assert not mailoutbox


# --- Not beyond what the row knows --------------------------------------------------------------------


def ended_by_its_user(user, session):
    sessions.end(user=user, session_id=session.id)


def password_of(user, session):
    owner = ApiClient(sign_in(user)[1])
    body = {"current_password": PASSWORD, "new_password": "another horse 9"}
    act(owner, user, "change_password", "change-password", body)


def second_password_on(user, session):
    enable_two_step(ApiClient(sign_in(user)[1]), user)


def missing(user, session):
    session.delete()


def erased(user, session):
    User.objects.get(id=user.id).delete()


@pytest.mark.parametrize("change", [ended_by_its_user, password_of, second_password_on, missing, erased])
@pytest.mark.parametrize(("method", "path"), [("GET", "me"), ("POST", "refresh")])
def test_a_change_after_the_restore_holds(alice, mailoutbox, change, method, path):
    session, first = sign_in(alice)
    backup = Backup(session)
    token = rotated(first, 3)
    backup.restore()
    change(alice, session)
    mailoutbox.clear()
    reply = ApiClient(token).raw(method, f"{AUTH}/{path}")
    assert (reply.status_code, reply.json()["error"]) == (401, "token_revoked")
    assert not mailoutbox


@pytest.mark.parametrize("change", ["password", "second password"])
def test_a_token_issued_after_a_credential_change_is_accepted(alice, mailoutbox, change):
    """The user's row knows the change, the session's row was lost with the refreshes after it."""
    session, token = sign_in(alice)
    if change == "password":
        body = {"current_password": PASSWORD, "new_password": "another horse 9"}
        token = act(ApiClient(token), alice, "change_password", "change-password", body)["token"]
    else:
        enable_two_step(ApiClient(token), alice)
    backup = Backup(session)
    token = rotated(token, 2)
    backup.restore()
    ApiClient(token).get(f"{AUTH}/me")
    ApiClient(token).post(f"{AUTH}/refresh")


def test_the_loss_of_a_rotation_by_a_new_password_signs_its_owner_not_out(alice):
    session, token = sign_in(alice)
    backup = Backup(session)
    body = {"current_password": PASSWORD, "new_password": "another horse 9"}
    newest = act(ApiClient(token), alice, "change_password", "change-password", body)["token"]
    backup.restore()
    ApiClient(newest).get(f"{AUTH}/me")


@pytest.mark.parametrize("generation", [2**30 + 1, 2**31, 2**63, 10**30])
def test_a_generation_that_no_row_can_hold_is_not_valid(alice, generation):
    session, token = sign_in(alice)
    reply = ApiClient(forged(token, gen=generation)).get(f"{AUTH}/me", status=401)
    assert reply["error"] == "token_invalid"
    assert generation_of(session) == 1
