"""What a session still says of its user's device and network after it has ended: one table for both questions."""

import ast
from datetime import timedelta
from functools import partial

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Session
from accounts.models.sign_ins import VOUCHING
from accounts.serializers.security import SESSION_END_REASONS
from accounts.services import registration
from accounts.sign_in import codes, networks, sessions
from tests.accounts.steps import act, last_code
from tests.client import ApiClient
from tests.factories import PASSWORD, make_user
from tests.test_architecture import sources

AUTH = "/api/v1/auth"
HOME, ELSEWHERE = "192.0.2.10", "198.51.100.7"
FIREFOX, PHONE = "Firefox/140.0", "Phone/1"
NEW_PASSWORD = "another horse 9"
# Functions that pass their `reason` on to the row of a session; those of audit and of deliveries have the same argument.
END_SESSIONS = {"revoke", "revoke_all", "end", "end_in_admin", "end_access", "replace"}


@pytest.fixture(autouse=True)
def behind_a_proxy(settings):
    settings.CORE_TRUSTED_PROXIES = 1


def client(token=None, *, address=HOME, agent=FIREFOX):
    return ApiClient(token, **{"X-Forwarded-For": address, "User-Agent": agent})


def sign_in(user, password=PASSWORD, **at):
    return client(**at).post(f"{AUTH}/login", {"email": user.email, "password": password})["token"]


def alerts(mailoutbox):
    return [mail.to for mail in mailoutbox if mail.subject == "New sign-in to your account"]


def written_reasons():
    """The reasons that the code gives, and the defaults of parameters of that name."""
    for path, text in sources("accounts", "messaging", "notifications", "realtime", "integrations"):
        if path.startswith("notifications/"):
            continue  # reasons of deliveries
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                for keyword in node.keywords:
                    is_reason = keyword.arg == "ended_reason" or (keyword.arg == "reason" and name in END_SESSIONS)
                    if is_reason and isinstance(keyword.value, ast.Constant):
                        yield keyword.value.value
            if isinstance(node, ast.FunctionDef) and path.endswith("sign_in/sessions.py"):
                for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
                    if argument.arg == "reason" and isinstance(default, ast.Constant):
                        yield default.value


@pytest.mark.once
def test_the_table_has_every_reason_that_the_code_writes_and_no_other():
    assert set(written_reasons()) == set(VOUCHING) - {""}


@pytest.mark.once
def test_every_reason_is_documented_but_that_of_the_admins_sessions():
    assert set(SESSION_END_REASONS.meanings) == set(written_reasons()) - {"second_factor_removed"}


@pytest.mark.parametrize("reason", [*VOUCHING, "a reason without a row"])
@pytest.mark.parametrize("days_old", [0, 6, 8, 60])
def test_what_an_ended_session_vouches_for(alice, mailoutbox, reason, days_old):
    sign_in(alice)
    mailoutbox.clear()
    session = Session.objects.get(user=alice)
    now = timezone.now()
    begun = now - timedelta(days=days_old)
    Session.objects.filter(id=session.id).update(created_at=begun, last_used_at=now - timedelta(hours=1))
    if reason:
        sessions.revoke([session], reason=reason)
    vouches = VOUCHING.get(reason)
    is_old_enough = vouches is not None and days_old >= vouches.after_days
    assert networks.knows_network(alice, HOME) is (is_old_enough and vouches.network)
    sign_in(alice)
    assert alerts(mailoutbox) == ([] if is_old_enough and vouches.device else [[alice.email]])
    # What signed in now vouches for itself.
    sign_in(alice)
    assert len(alerts(mailoutbox)) <= 1


def test_an_expired_session_vouches_for_both(alice, mailoutbox, clock):
    sign_in(alice)
    mailoutbox.clear()
    clock.forward(days=30)
    assert networks.knows_network(alice, HOME)
    sign_in(alice)
    assert not alerts(mailoutbox)


def test_an_intruder_who_was_thrown_out_and_comes_back_is_announced(alice, mailoutbox):
    owner = client(sign_in(alice), address=HOME)
    sign_in(alice, address=ELSEWHERE, agent=PHONE)
    mailoutbox.clear()
    [intruder] = [row for row in owner.get(f"{AUTH}/sessions")["sessions"] if not row["is_current"]]
    owner.delete(f"{AUTH}/sessions/{intruder['id']}")
    sign_in(alice, address=ELSEWHERE, agent=PHONE)
    assert len(alerts(mailoutbox)) == 1
    owner.post(f"{AUTH}/sessions/revoke-others")
    sign_in(alice, address=ELSEWHERE, agent=PHONE)
    assert len(alerts(mailoutbox)) == 2


def test_a_sign_in_to_an_account_without_a_remembered_session_is_announced(alice, mailoutbox, clock):
    sign_in(alice)
    mailoutbox.clear()
    clock.forward(days=200)
    call_command("purge_expired", verbosity=0)
    assert not Session.objects.exists()
    sign_in(alice)
    assert alerts(mailoutbox) == [[alice.email]]


def test_the_confirmation_of_the_address_is_not_announced_nor_a_sign_in_before_it(db, mailoutbox):
    una = make_user("Una", verified=False)
    sign_in(una)
    registration.resend(email=una.email, network=HOME)
    client().post(f"{AUTH}/verify", {"email": una.email, "code": last_code(una.email)})
    sign_in(una)
    assert not alerts(mailoutbox)
    sign_in(una, address=ELSEWHERE)
    assert alerts(mailoutbox) == [[una.email]]


def reset(user, *, asked_from, used_from=None):
    client(address=asked_from).post(f"{AUTH}/forgot-password", {"email": user.email})
    body = {"email": user.email, "code": last_code(user.email), "new_password": NEW_PASSWORD}
    client(address=used_from or asked_from).post(f"{AUTH}/verify-reset", body)
    user.refresh_from_db()


def test_a_reset_ends_what_an_intruder_knew_and_keeps_the_network_of_its_code(alice):
    sign_in(alice, address=HOME)
    sign_in(alice, address=ELSEWHERE)
    reset(alice, asked_from=HOME)
    assert networks.knows_network(alice, HOME)
    assert not networks.knows_network(alice, ELSEWHERE)


def change(user):
    """A change of the password by its owner."""
    body = {"current_password": PASSWORD, "new_password": NEW_PASSWORD}
    act(client(sign_in(user)), user, "change_password", "change-password", body)


@pytest.mark.parametrize(("days_old", "is_announced"), [(6, True), (8, False)])
@pytest.mark.parametrize("new_password", [change, partial(reset, asked_from=HOME)])
def test_a_sign_out_before_the_password_changes_hides_no_intruder(
    alice, mailoutbox, new_password, days_old, is_announced
):
    sign_in(alice)
    client(sign_in(alice, address=ELSEWHERE, agent=PHONE)).post(f"{AUTH}/logout")
    begun = timezone.now() - timedelta(days=days_old)
    Session.objects.filter(user=alice, ip=ELSEWHERE).update(created_at=begun)
    assert networks.knows_network(alice, ELSEWHERE)
    new_password(alice)
    alice.refresh_from_db()
    assert networks.knows_network(alice, HOME)
    assert networks.knows_network(alice, ELSEWHERE) is not is_announced
    mailoutbox.clear()
    token = sign_in(alice, NEW_PASSWORD, address=ELSEWHERE, agent=PHONE)
    assert alerts(mailoutbox) == [[alice.email]] * is_announced
    # What signs in with the new password vouches again, after a sign-out, too.
    client(token, address=ELSEWHERE, agent=PHONE).post(f"{AUTH}/logout")
    mailoutbox.clear()
    sign_in(alice, NEW_PASSWORD, address=ELSEWHERE, agent=PHONE)
    assert not alerts(mailoutbox)


def test_asking_for_a_code_makes_no_network_known(alice):
    """Anyone can ask; the mailbox is proved by the client that brings the code."""
    sign_in(alice, address=ELSEWHERE)
    reset(alice, asked_from=ELSEWHERE, used_from=HOME)
    assert networks.knows_network(alice, HOME)
    assert not networks.knows_network(alice, ELSEWHERE)


def test_the_network_of_a_reset_is_known_for_ninety_days(alice, clock):
    reset(alice, asked_from=HOME)
    clock.forward(days=89)
    assert networks.knows_network(alice, HOME)
    clock.forward(days=2)
    assert not networks.knows_network(alice, HOME)


def test_the_intruders_network_does_not_use_up_the_owners_code_mails(settings, alice, mailoutbox):
    sign_in(alice, address=HOME)
    sign_in(alice, address=ELSEWHERE)
    reset(alice, asked_from=HOME)
    settings.RATELIMIT_ENABLE = True
    settings.RATELIMIT_CACHE_PREFIX = "vouching"
    mailoutbox.clear()
    for _ in range(12):
        codes.send_to_address(email=alice.email, network=ELSEWHERE, purpose="reset", mail="reset_code")
    assert len(mailoutbox) == 10
    client(address=HOME).post(f"{AUTH}/forgot-password", {"email": alice.email})
    assert len(mailoutbox) == 11
