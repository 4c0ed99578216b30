"""One-time codes: bound to purpose and address, five tries, longer after many failures."""

import re

import pytest
from django.db import connection, transaction

from accounts.exceptions import InvalidOtp
from accounts.models import Code, User
from accounts.sign_in import codes
from tests.accounts.steps import redeem_code
from tests.factories import make_user


def wrong_for(text):
    return f"{(int(text) + 1) % 10 ** len(text):0{len(text)}d}"


def redeem(user, text, purpose="signup", address=None):
    redeem_code(user=user, purpose=purpose, address=address or user.email, text=text)


def issue(user, purpose="signup"):
    return codes.issue(user=user, purpose=purpose, address=user.email)


def fail(user, times, purpose="signup"):
    for n in range(times):
        if n % 5 == 0:
            text = issue(user, purpose)
        with pytest.raises(InvalidOtp):
            redeem(user, wrong_for(text), purpose)


def test_a_code_works_once(alice):
    text = issue(alice)
    redeem(alice, text)
    with pytest.raises(InvalidOtp):
        redeem(alice, text)


def test_a_code_is_good_for_its_purpose_address_and_person_only(alice, bob):
    text = issue(alice, "signup")
    issue(bob, "signup")
    issue(alice, "reset")
    for user, purpose, address in [
        (alice, "reset", alice.email),
        (alice, "signup", bob.email),
        (alice, "action:change_password", alice.email),
        (bob, "signup", bob.email),
        (bob, "signup", alice.email),
    ]:
        with pytest.raises(InvalidOtp):
            redeem(user, text, purpose, address)
    redeem(alice, text, "signup")


def test_a_code_for_another_purpose_counts_as_a_failure(alice):
    text = issue(alice, "signup")
    while (other := issue(alice, "reset")) == text:
        pass
    with pytest.raises(InvalidOtp):
        redeem(alice, text, "reset")
    assert Code.objects.get(purpose="reset").tries == 1
    redeem(alice, other, "reset")


def test_ten_minutes(alice, clock):
    text = issue(alice)
    clock.forward(minutes=9, seconds=59)
    redeem(alice, text)
    text = issue(alice)
    clock.forward(minutes=10)
    with pytest.raises(InvalidOtp):
        redeem(alice, text)


def test_a_new_code_brings_new_tries_and_kills_the_old(alice):
    first = issue(alice)
    fail(alice, 5)
    second = issue(alice)
    if first != second:
        with pytest.raises(InvalidOtp):
            redeem(alice, first)
    redeem(alice, second)


def test_nothing_of_a_code_can_be_read_from_the_database(alice):
    text = issue(alice)
    row = Code.objects.values().get()
    assert re.fullmatch(r"[0-9a-f]{64}", row["digest"])
    assert text not in str(
        {name: value for name, value in row.items() if name not in ("created_at", "expires_at", "digest")}
    )


def test_failures_over_all_purposes_make_codes_longer_and_cause_no_lockout(alice, bob, clock):
    assert len(issue(alice)) == 6
    fail(alice, 10, "signup")
    fail(alice, 9, "reset")
    assert len(issue(alice)) == 6
    fail(alice, 1, "change_email")
    alice.refresh_from_db()
    assert len(issue(alice)) == len(issue(alice, "reset")) == 8
    fail(alice, 80)
    alice.refresh_from_db()
    assert len(issue(alice, "action:delete_account")) == 10
    text = issue(alice)
    redeem(alice, text)
    assert len(issue(bob)) == 6
    clock.forward(days=1)
    assert len(issue(alice)) == 6
    fail(alice, 1)
    assert User.objects.get(id=alice.id).failed_codes == 1


def test_more_digits_may_be_asked_for(alice):
    assert len(codes.issue(user=alice, purpose="two_step", address=alice.email, digits=8)) == 8


def test_a_code_outlives_a_change_of_the_secret_key(alice, settings):
    text = issue(alice)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key of some length that is secret"
    redeem(alice, text)


@pytest.mark.django_db(transaction=True)
def test_a_try_inside_an_open_transaction_is_refused():
    """Its count could be rolled back: an error in the program, not a way to guess."""
    ann = make_user("Ann")
    text = issue(ann)
    with transaction.atomic(), pytest.raises(RuntimeError):
        redeem(ann, wrong_for(text))
    assert not connection.in_atomic_block


@pytest.mark.django_db(transaction=True)
def test_a_try_stays_counted_when_the_caller_fails():
    ann = make_user("Ann")
    text = issue(ann)
    for _ in range(4):
        code = codes.check(user=ann, purpose="signup", address=ann.email, text=text)
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            codes.consume(code)
            raise ZeroDivisionError
    assert Code.objects.get().tries == 4
    redeem(ann, text)


def test_consuming_fails_when_a_new_code_has_taken_the_place(alice):
    code = codes.check(user=alice, purpose="signup", address=alice.email, text=issue(alice))
    while issue(alice) and Code.objects.get().digest == code.digest:
        pass
    with pytest.raises(InvalidOtp):
        codes.consume(code)
