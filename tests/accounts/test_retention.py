"""What goes from accounts with time, and what stays."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.client import Client
from accounts.exceptions import InvalidOtp
from accounts.models import (
    AuditEntry,
    Code,
    CodeTries,
    NetworkLock,
    OneTimeToken,
    RateCount,
    Session,
    TrustedDevice,
    UnknownAddress,
    User,
)
from accounts.services import account_status, purge, registration
from accounts.sign_in import codes, lockout, sessions, trusted_devices
from core.database import deletion
from core.database.deletion import run_first_batches
from tests.accounts.steps import redeem_code
from tests.factories import make_user, sign_in
from tests.parallel import parallel_outcomes

NOTHING = {
    "accounts_unconfirmed": 0, "accounts_erased": 0, "codes": 0, "one_time_tokens": 0, "email_changes": 0,
    "trusted_devices": 0, "sessions": 0, "unknown_addresses": 0, "network_locks": 0, "code_tries": 0, "rate_counts": 0,
}  # fmt: skip


def run_purge(batch=100):
    counted = run_first_batches(purge.jobs(timezone.now(), batch))
    assert counted.keys() == NOTHING.keys()
    return {kind: number for kind, number in counted.items() if number}


def test_everything_that_is_past_goes_and_nothing_else(alice, clock):
    unconfirmed = make_user("Ann", verified=False)
    codes.issue(user=unconfirmed, purpose="signup", address=unconfirmed.email)
    codes.issue(user=alice, purpose="reset", address=alice.email)
    OneTimeToken.objects.issue(kind=OneTimeToken.Kind.TWO_STEP, user=alice)
    trusted_devices.remember_device(user=alice)
    session, _token = sign_in(alice)
    sessions.revoke([session], reason="logout")
    sign_in(alice)
    lockout.count_wrong(lockout.locked_unknown("nobody@example.com"), timezone.now())
    lockout.count_wrong(NetworkLock.objects.create(user=alice, network="192.0.2.1"), timezone.now())
    with pytest.raises(InvalidOtp):
        redeem_code(user=alice, purpose="reset", address=alice.email, text="odd", network="192.0.2.1")
    RateCount.objects.count_use(key="k", seconds=60)
    assert run_purge() == {}

    clock.forward(days=3)
    assert run_purge() == {"unknown_addresses": 1, "network_locks": 1, "rate_counts": 1}
    clock.forward(days=3, hours=23)
    assert run_purge() == {}
    clock.forward(hours=2)
    assert run_purge() == {"accounts_unconfirmed": 1, "codes": 1, "one_time_tokens": 1}
    clock.forward(days=24)
    assert run_purge() == {"trusted_devices": 1}
    assert Session.objects.count() == 2
    clock.forward(days=60)
    assert run_purge() == {"sessions": 1}
    clock.forward(days=10)
    assert run_purge() == {"sessions": 1}
    assert list(User.objects.all()) == [alice]
    for model in (Code, CodeTries, NetworkLock, OneTimeToken, TrustedDevice, Session, UnknownAddress, RateCount):
        assert not model.objects.exists()


def test_the_audit_log_keeps_no_address_of_an_unconfirmed_account(bob, clock):
    ann = make_user("Ann", verified=False)
    account_status.block(user=ann, actor=bob, reason="wrote to ann's mother")
    clock.forward(days=8)
    assert run_purge()["accounts_unconfirmed"] == 1
    row = AuditEntry.objects.get()
    assert (row.target_label, row.reason, row.details) == (f"user {ann.id}", "", {})


def test_an_account_is_not_confirmed_while_it_is_removed(db, clock, monkeypatch):
    ann = make_user("Ann", verified=False)
    clock.forward(days=8)
    code = codes.issue(user=ann, purpose="signup", address=ann.email)
    begin = registration.unit_of_work
    begun = []

    def confirms_between(**options):
        begun.append(1)
        if len(begun) == 2:  # what its apps have stored is removed, the account is there
            with monkeypatch.context() as undisturbed, pytest.raises(InvalidOtp):
                undisturbed.setattr(registration, "unit_of_work", begin)
                registration.verify_email(email=ann.email, code=code, client=Client())
        return begin(**options)

    monkeypatch.setattr(registration, "unit_of_work", confirms_between)
    assert run_purge()["accounts_unconfirmed"] == 1
    assert len(begun) == 2 and not User.objects.exists()


def test_a_code_that_is_sent_while_old_ones_are_removed_stays(alice, clock, monkeypatch):
    codes.issue(user=alice, purpose="reset", address=alice.email)
    clock.forward(days=8)
    batches = deletion.batches_to_delete
    sent = []

    def later(rows, batch):
        for ids in batches(rows, batch):
            if rows.model is Code:
                sent.append(codes.issue(user=alice, purpose="reset", address=alice.email))
            yield ids

    monkeypatch.setattr(deletion, "batches_to_delete", later)
    assert run_purge() == {}
    redeem_code(user=alice, purpose="reset", address=alice.email, text=sent[0])


def test_a_network_is_forgotten_after_a_success(alice):
    lock = NetworkLock(user=alice, network="192.0.2.1")
    lockout.count_wrong(lock, timezone.now())
    assert run_purge() == {}
    lockout.clear(lock)
    assert run_purge() == {"network_locks": 1}


def test_a_batch_is_a_batch(alice, clock):
    for _ in range(5):
        OneTimeToken.objects.issue(kind=OneTimeToken.Kind.TWO_STEP, user=alice)
    clock.forward(days=8)
    assert [run_purge(batch=2) for _ in range(4)] == [
        {"one_time_tokens": 2},
        {"one_time_tokens": 2},
        {"one_time_tokens": 1},
        {},
    ]


def test_erased_staff_and_confirmed_accounts_are_no_unconfirmed_ones(alice, clock):
    make_user("Root", verified=False, is_staff=True)
    make_user("Gone", verified=False, erased_at=timezone.now())
    clock.forward(days=30)
    assert run_purge() == {}
    assert User.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_two_purges_at_once_delete_nothing_twice():
    for n in range(20):
        user = make_user(f"U{n}", verified=False)
        codes.issue(user=user, purpose="signup", address=user.email)
    User.objects.update(created_at=timezone.now() - timedelta(days=8))
    Code.objects.update(expires_at=timezone.now() - timedelta(days=8))
    results = parallel_outcomes(2, lambda n: run_first_batches(purge.jobs(timezone.now(), 100)))
    assert all(isinstance(result, dict) for result in results), results
    assert not User.objects.exists() and not Code.objects.exists()
