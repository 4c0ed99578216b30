"""Two different writes on the same thing at once, on both databases, with real threads."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.client import Client
from accounts.exceptions import EmailTaken, InvalidCredentials, InvalidOtp, InvalidTwoStep, TokenRevoked, UserNotFound
from accounts.models import Code, CodeTries, EmailChange, NetworkLock, OneTimeToken, RecoveryCode, Session, User
from accounts.services import email_change, erasure, password, profile, purge, registration
from accounts.sign_in import (
    action_tokens,
    codes,
    networks,
    second_password,
    sessions,
    stages,
    trusted_devices,
)
from core.database.deletion import run_first_batches
from core.database.transactions import unit_of_work
from realtime.models import Stream
from tests.factories import PASSWORD, make_user, sign_in
from tests.parallel import Started, parallel_outcomes, start_until_it_waits
from tests.server import ON_POSTGRES

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 10


def at_once(*jobs):
    return parallel_outcomes(len(jobs), lambda index: jobs[index]())


def unexpected(outcomes, *expected):
    return [outcome for outcome in outcomes if isinstance(outcome, BaseException) and not isinstance(outcome, expected)]


def action_token(user, session, action):
    token = OneTimeToken.objects.issue(kind=OneTimeToken.Kind.ACTION, user=user, session=session, action=action)
    return OneTimeToken.objects.of(token, OneTimeToken.Kind.ACTION)


def with_second_password(user, text="second horse 9"):
    session, _ = sign_in(user)
    token = action_token(user, session, "two_step_enable")
    second_password.enable(user=user, action_token=token, password=text)
    user.refresh_from_db()
    return session


def test_a_user_is_blocked_and_unblocked_at_once():
    ann, bob = make_user("Ann"), make_user("Bob")
    for _ in range(ROUNDS):
        jobs = [
            lambda: profile.block(blocker=ann, blocked_id=bob.id),
            lambda: profile.unblock(blocker=ann, blocked_id=bob.id),
        ]
        assert unexpected(at_once(*jobs * 3), UserNotFound) == []


def test_wrong_codes_beside_a_reset_are_wrong_codes():
    for _ in range(ROUNDS):
        ann = make_user("Ann")
        right = codes.issue(user=ann, purpose="reset", address=ann.email)
        wrong = "0" * len(right) if right[0] != "0" else "1" * len(right)

        def reset(code, network, email=ann.email):
            password.reset(email=email, code=code, new_password="other horse 9", network=network)

        jobs = [lambda code=right: reset(code, "192.0.2.1")]
        jobs += [lambda code=wrong, host=host: reset(code, f"192.0.2.{host}") for host in range(2, 9)]
        outcomes = at_once(*jobs)
        assert outcomes[0] is None
        assert {type(outcome) for outcome in outcomes[1:]} == {InvalidOtp}


def test_recovery_codes_replaced_twice_at_once_are_ten():
    ann = make_user("Ann")
    session = with_second_password(ann)
    for _ in range(ROUNDS):
        tokens = [action_token(ann, session, "recovery_codes") for _ in range(2)]
        jobs = [
            lambda token=token: second_password.new_recovery_codes(user=ann, action_token=token) for token in tokens
        ]
        assert unexpected(at_once(*jobs)) == []
        assert RecoveryCode.objects.filter(user=ann).count() == 10


def test_a_second_password_is_the_proof_of_one_change():
    for _ in range(ROUNDS):
        ann = make_user("Ann")
        session = with_second_password(ann)

        def change(text, token, user=ann, session=session):
            second_password.change(
                user=user, session=session, action_token=token, password="second horse 9", new_password=text
            )

        tokens = [action_token(ann, session, "two_step_change") for _ in range(2)]
        texts = ("third horse 9", "fourth horse 9")
        jobs = [lambda token=token, text=text: change(text, token) for token, text in zip(tokens, texts, strict=True)]
        outcomes = at_once(*jobs)
        assert [type(outcome) for outcome in outcomes if outcome is not None] == [InvalidTwoStep]


def test_of_two_changes_of_the_address_begun_at_once_one_waits_for_its_code():
    for number in range(ROUNDS):
        ann = make_user("Ann")
        session, _ = sign_in(ann)

        def start(email, token, user=ann, session=session):
            email_change.start(user=user, session=session, action_token=token, email=email)

        tokens = [action_token(ann, session, "change_email") for _ in range(3)]
        jobs = [
            lambda token=token, email=f"new{number}.{index}@example.com": start(email, token)
            for index, token in enumerate(tokens)
        ]
        assert unexpected(at_once(*jobs), EmailTaken) == []
        waiting = EmailChange.objects.get(user=ann, confirmed_at=None)
        assert ann.codes.get(purpose="change_email").address == waiting.new_email


def test_an_erased_account_stays_empty():
    for _ in range(ROUNDS):
        ann = make_user("Ann")
        jobs = [lambda ann=ann: erasure.erase(user_id=ann.id)]
        jobs += [lambda ann=ann: profile.update(user=ann, bio="Still here")] * 2
        jobs += [lambda ann=ann: profile.set_privacy(user=ann, who_can_message="nobody")]
        assert unexpected(at_once(*jobs), TokenRevoked) == []
        row = User.objects.get(id=ann.id)
        assert (row.bio or "", row.who_can_message) == ("", "everyone")


def test_an_action_begun_while_the_account_is_erased_is_refused():
    for _ in range(ROUNDS):
        ann = make_user("Ann")
        session, _ = sign_in(ann)
        begin = partial(action_tokens.challenge, user=ann, session=session, action="export_data")
        outcomes = at_once(partial(erasure.erase, user_id=ann.id), begin, begin)
        assert unexpected(outcomes, TokenRevoked) == []


def test_of_two_sessions_that_end_each_other_one_stays():
    for _ in range(ROUNDS):
        ann = make_user("Ann")
        mine = [sign_in(ann)[0] for _ in range(2)]
        outcomes = at_once(*(partial(sessions.revoke_all, user_id=ann.id, reason="revoked", but=one) for one in mine))
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["TokenRevoked", "int"]
        assert Session.objects.filter(user=ann, ended_at=None).count() == 1


def test_a_trusted_device_is_removed_while_one_of_its_sessions_ends_the_others():
    for _ in range(ROUNDS):
        ann = make_user("Ann")
        device, _ = trusted_devices.remember_device(user=ann)
        opened = [sessions.start(user=ann, trusted_device=device)[0] for _ in range(10)]
        jobs = [partial(trusted_devices.remove_device, user=ann, device_id=device.id)]
        jobs += [partial(sessions.revoke_all, user_id=ann.id, reason="revoked", but=one) for one in opened[::3]]
        assert unexpected(at_once(*jobs), TokenRevoked) == []
        assert Session.objects.filter(user=ann, ended_at=None).count() == 0


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer at a time")
def test_the_time_of_users_who_leave_together_waits_for_one_alone():
    """Its account is locked, say by its erasure: the others can be changed meanwhile."""
    ann, bob = make_user("Ann"), make_user("Bob")
    with transaction.atomic():
        User.objects.lock(bob.id)
        leaving = start_until_it_waits(lambda: profile.record_last_seen(user_ids=[ann.id, bob.id], at=timezone.now()))
        assert leaving.is_running
        Started(lambda: profile.update(user=ann, bio="Tea")).end()
    leaving.end()
    assert not User.objects.filter(id__in=[ann.id, bob.id], last_seen_at=None).exists()


def purge_unconfirmed():
    return registration.purge_unconfirmed(created_before=timezone.now(), batch=9)


@pytest.mark.parametrize("path", ["forgot-password", "resend-otp"])
def test_a_code_is_asked_for_while_the_account_is_removed(path, anonymous, monkeypatch):
    user = make_user(verified=False)
    may_be_mailed = codes.may_be_mailed

    def later(**asked):
        assert purge_unconfirmed() == 1
        return may_be_mailed(**asked)

    monkeypatch.setattr(codes, "may_be_mailed", later)
    anonymous.post(f"/api/v1/auth/{path}", {"email": user.email})
    assert not User.objects.exists()


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer")
def test_an_unconfirmed_account_is_removed_while_its_code_is_guessed():
    user = make_user(verified=False)
    with unit_of_work():
        codes.issue(user=user, purpose="signup", address=user.email)
    with transaction.atomic():
        code = Code.objects.select_for_update(no_key=True).get()
        removed = start_until_it_waits(purge_unconfirmed)
        CodeTries.objects.create(code=code, digest=code.digest, network="192.0.2.1", tries=1)
    assert removed.end() == 1
    assert not User.objects.exists()


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer")
def test_an_unconfirmed_account_is_removed_while_its_log_begins():
    user = make_user(verified=False)
    with transaction.atomic():
        Stream.objects.create(user=user)
        removed = start_until_it_waits(purge_unconfirmed)
    assert removed.end() == 1
    assert not User.objects.exists()


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer")
@pytest.mark.parametrize("typed", [PASSWORD, "not it at all"])
def test_old_wrong_passwords_are_removed_while_the_network_signs_in_again(typed, monkeypatch):
    ann = make_user()
    client = Client(ip="192.0.2.1")
    sessions.start(user=ann, client=client)
    NetworkLock.objects.create(
        user=ann, network=client.ip, wrong_passwords=3, wrong_password_at=timezone.now() - timedelta(hours=25)
    )
    knows_network = networks.knows_network
    purges = []

    def later(*asked):
        if transaction.get_connection().in_atomic_block and not purges:
            purges.append(
                start_until_it_waits(lambda: run_first_batches(purge.jobs(timezone.now(), 9))["network_locks"])
            )
        return knows_network(*asked)

    monkeypatch.setattr(networks, "knows_network", later)
    outcome = parallel_outcomes(1, lambda _: stages.with_password(email=ann.email, password=typed, client=client))
    assert isinstance(outcome[0], stages.SignedIn if typed == PASSWORD else InvalidCredentials), outcome
    assert [purge.end() for purge in purges] == [int(typed == PASSWORD)]
    assert list(NetworkLock.objects.values_list("wrong_passwords", flat=True)) == [1] * (typed != PASSWORD)
