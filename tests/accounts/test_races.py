"""What must hold however many requests arrive at once, on both databases, with real threads."""

from collections import Counter

import pytest

from accounts.client import Client
from accounts.exceptions import AccountLocked, InvalidCredentials, InvalidOtp
from accounts.models import Code, Session, UnknownAddress, User
from accounts.services import registration
from accounts.sign_in import codes, sessions, stages
from accounts.tokens import SessionToken
from tests.factories import PASSWORD, make_user, sign_in
from tests.hashers import QuickHasher
from tests.parallel import parallel_outcomes

pytestmark = pytest.mark.django_db(transaction=True)

HERE = Client(ip="192.0.2.1", user_agent="tests")


@pytest.fixture
def compared(monkeypatch):
    """How often a code was really compared."""
    seen = []
    matches = codes.keyed_digest_matches
    monkeypatch.setattr(codes, "keyed_digest_matches", lambda *values: (seen.append(1), matches(*values))[1])
    return seen


def test_of_200_parallel_wrong_codes_five_are_compared_and_the_right_one_is_dead(compared):
    ann = make_user("Ann", verified=False)
    right = codes.issue(user=ann, purpose="signup", address=ann.email)
    wrong = [f"{(int(right) + n) % 10**6:06d}" for n in range(1, 201)]

    def guess(index):
        registration.verify_email(email=ann.email, code=wrong[index], client=HERE)

    results = [
        result for start in range(0, 200, 50) for result in parallel_outcomes(50, lambda n, s=start: guess(s + n))
    ]
    assert Counter(type(result) for result in results) == {InvalidOtp: 200}
    assert len(compared) == 5
    assert Code.objects.get(user=ann).tries == 5
    with pytest.raises(InvalidOtp):
        registration.verify_email(email=ann.email, code=right, client=HERE)
    ann.refresh_from_db()
    assert ann.failed_codes == 5
    assert not ann.has_verified_email


def test_of_20_parallel_uses_of_one_code_one_wins(settings):
    settings.ACCOUNTS_CODE_TRIES = 100
    ann = make_user("Ann", verified=False)
    code = codes.issue(user=ann, purpose="signup", address=ann.email)
    results = parallel_outcomes(20, lambda n: registration.verify_email(email=ann.email, code=code, client=HERE))
    assert Counter(type(result) for result in results) == {tuple: 1, InvalidOtp: 19}
    assert Session.objects.filter(user=ann).count() == 1


def test_of_20_parallel_uses_of_one_code_with_five_tries_one_wins():
    ann = make_user("Ann", verified=False)
    code = codes.issue(user=ann, purpose="signup", address=ann.email)
    results = parallel_outcomes(20, lambda n: registration.verify_email(email=ann.email, code=code, client=HERE))
    assert Counter(type(result) for result in results) == {tuple: 1, InvalidOtp: 19}


def test_20_parallel_refreshes_make_one_generation():
    session, token = sign_in(make_user("Ann"))
    results = parallel_outcomes(20, lambda n: sessions.refresh(token))
    assert {SessionToken(result).generation for result in results} == {2}
    session.refresh_from_db()
    assert (session.generation, session.ended_at) == (2, None)


def test_parallel_right_passwords_all_sign_in():
    ann = make_user("Ann")
    results = parallel_outcomes(20, lambda n: stages.with_password(email=ann.email, password=PASSWORD, client=HERE))
    assert {type(result) for result in results} == {stages.SignedIn}
    assert Session.objects.filter(user=ann, ended_at=None).count() == 20


def outdated(user):
    """Stores the hash of the password as an earlier release, or another product, made it."""
    user.password = QuickHasher().encode(PASSWORD, QuickHasher().salt(), iterations=2)
    user.save(update_fields=["password"])
    return user.password


def test_parallel_right_passwords_all_sign_in_while_their_hash_is_renewed():
    ann = make_user("Ann")
    old = outdated(ann)
    results = parallel_outcomes(20, lambda n: stages.with_password(email=ann.email, password=PASSWORD, client=HERE))
    assert {type(result) for result in results} == {stages.SignedIn}
    ann.refresh_from_db()
    assert ann.password != old and ann.wrong_passwords == 0


def test_a_renewed_hash_does_not_replace_a_new_password():
    ann = make_user("Ann")
    outdated(ann)
    signing_in = User.objects.get(id=ann.id)
    ann.set_password("amber window 77")
    ann.save(update_fields=["password"])
    signing_in.check_password(PASSWORD)
    assert User.objects.get(id=ann.id).check_password("amber window 77")


@pytest.mark.parametrize("known", [True, False])
def test_of_parallel_wrong_passwords_five_are_told_apart(known):
    email = make_user("Ann").email if known else "nobody@example.com"
    results = parallel_outcomes(30, lambda n: stages.with_password(email=email, password=f"wrong {n}", client=HERE))
    assert Counter(type(result) for result in results) == {InvalidCredentials: 5, AccountLocked: 25}
    row = User.objects.get(email=email) if known else UnknownAddress.objects.get()
    assert row.wrong_passwords == 5


def test_a_right_password_among_parallel_wrong_ones_is_judged_in_turn():
    """Thirty guesses at once tell no more than five guesses and a wait."""
    ann = make_user("Ann")
    guesses = [f"wrong {n}" for n in range(29)] + [PASSWORD]
    results = parallel_outcomes(30, lambda n: stages.with_password(email=ann.email, password=guesses[n], client=HERE))
    results_reported = [result for result in results if not isinstance(result, AccountLocked)]
    assert sum(isinstance(result, InvalidCredentials) for result in results_reported) <= 9
    assert len(results_reported) <= 10


@pytest.mark.parametrize("is_repeat", [True, False])
def test_20_parallel_sign_ups_of_one_address_make_one_account(is_repeat):
    def sign_up(index):
        return registration.sign_up(
            email="ann@example.com",
            password=f"correct horse {9 if is_repeat else index}",
            first_name="Ann",
            last_name="X",
            language="en",
            network="192.0.2.1",
        )

    results = parallel_outcomes(20, sign_up)
    kinds = Counter(type(result).__name__ for result in results)
    assert kinds == {"User": 1, "EmailTaken": 19}
    ann = User.objects.get(email="ann@example.com")
    assert (ann.contested_at is None) is is_repeat
    assert Code.objects.filter(user=ann).count() == 1
