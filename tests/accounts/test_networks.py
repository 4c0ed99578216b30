"""What an attacker without the password can do: limits count the client's network before the account or address it names."""

import secrets
from collections import Counter
from types import SimpleNamespace

import pytest
from django.utils import timezone

from accounts.client import Client
from accounts.exceptions import AccountLocked, InvalidCredentials, InvalidOtp
from accounts.models import Code, CodeTries, NetworkLock, Session, User
from accounts.services import account_status
from accounts.sign_in import codes, lockout, networks, sessions, stages, trusted_devices
from core.api import ratelimits
from tests.accounts.steps import action_token, enable_two_step, last_code, redeem_code, send_second_step
from tests.client import ApiClient
from tests.factories import PASSWORD, make_user, sign_in
from tests.parallel import parallel_outcomes
from tests.staff import admin_client, staff

AUTH = "/api/v1/auth"
HOME, OFFICE = "192.0.2.10", "2001:db8:1:2::10"
NEW_PASSWORD = "another horse 9"


def unknown_network(number):
    """An address that no account knows."""
    return f"198.51.100.{number + 1}"


@pytest.fixture(autouse=True)
def limited(settings, monkeypatch):
    """Rates on, with nothing counted yet; the counter's time stands still, so that no window ends inside a test."""
    now = timezone.now().timestamp()
    monkeypatch.setattr("django_ratelimit.core.time", SimpleNamespace(time=lambda: now))
    settings.CORE_TRUSTED_PROXIES = 1
    settings.RATELIMIT_ENABLE = True
    settings.RATELIMIT_CACHE_PREFIX = secrets.token_hex(8)
    monkeypatch.setattr(ratelimits, "_counter_retry_at", 0.0)


def client(address, token=None):
    return ApiClient(token, **{"X-Forwarded-For": address})


def attempt(address, path, **body):
    """The outcome of a POST from an address: "200", or the error's code."""
    response = client(address).raw("POST", f"{AUTH}/{path}", body)
    return "200" if response.status_code == 200 else response.json()["error"]


def at(user, address, **fields):
    """A session of the user that began at an address."""
    return sessions.start(user=user, client=Client(address, "tests"), **fields)[0]


# --- the wait after wrong passwords ------------------------------------------------------------


def test_wrong_passwords_from_twenty_networks_leave_the_known_network_open(alice):
    at(alice, HOME)
    tried = [attempt(unknown_network(n), "login", email=alice.email, password="wrong") for n in range(20)]
    assert tried == ["invalid_credentials"] * 5 + ["account_locked"] * 15
    assert attempt(HOME, "login", email=alice.email, password=PASSWORD) == "200"
    # The wait of the unknown networks goes on, also for one who knows the password.
    assert attempt(unknown_network(30), "login", email=alice.email, password=PASSWORD) == "account_locked"


def test_an_address_without_account_waits_like_an_account_that_is_known_nowhere(alice):
    for email in (alice.email, "nobody@example.com"):
        tried = [attempt(unknown_network(n), "login", email=email, password="wrong") for n in range(7)]
        assert tried == ["invalid_credentials"] * 5 + ["account_locked"] * 2


def test_a_known_network_waits_for_its_own_wrong_passwords(alice, clock):
    at(alice, HOME)
    at(alice, OFFICE)
    tried = [attempt(HOME, "login", email=alice.email, password="wrong") for _ in range(5)]
    assert tried == ["invalid_credentials"] * 5
    # The rate of five a minute is used up as well: the wait is what the service itself says.
    with pytest.raises(AccountLocked):
        stages.with_password(email=alice.email, password=PASSWORD, client=Client(ip=HOME))
    assert attempt(OFFICE, "login", email=alice.email, password=PASSWORD) == "200"
    assert attempt(unknown_network(1), "login", email=alice.email, password=PASSWORD) == "200"
    assert User.objects.get(id=alice.id).wrong_passwords == 0
    assert NetworkLock.objects.get(user=alice, network=HOME).wrong_passwords == 5
    clock.forward(seconds=61)
    stages.with_password(email=alice.email, password=PASSWORD, client=Client(ip=HOME))
    assert NetworkLock.objects.get(user=alice, network=HOME).wrong_passwords == 0


@pytest.mark.parametrize("way", ["reset", "staff"])
def test_a_reset_and_staff_end_every_wait(alice, way):
    at(alice, HOME)
    for address in (HOME, *map(unknown_network, range(5))):
        for _ in range(5):
            try:
                stages.with_password(email=alice.email, password="wrong", client=Client(ip=address))
            except (InvalidCredentials, AccountLocked):
                continue
    password = PASSWORD
    if way == "staff":
        account_status.unlock(user=alice, reason="asked by phone", actor="test")
    else:
        code = codes.issue(user=alice, purpose="reset", address=alice.email)
        password = NEW_PASSWORD
        assert attempt(HOME, "verify-reset", email=alice.email, code=code, new_password=password) == "200"
    for address in (HOME, unknown_network(1)):
        stages.with_password(email=alice.email, password=password, client=Client(ip=address))


@pytest.mark.django_db(transaction=True)
def test_parallel_wrong_passwords_are_counted_apart_and_exactly():
    alice = make_user("Alice")
    at(alice, HOME)

    def guess(number):
        address = HOME if number % 2 else unknown_network(number)
        stages.with_password(email=alice.email, password="wrong", client=Client(ip=address))

    outcomes = parallel_outcomes(30, guess)
    for part in (outcomes[0::2], outcomes[1::2]):
        assert Counter(type(outcome) for outcome in part) == {InvalidCredentials: 5, AccountLocked: 10}
    assert User.objects.get(id=alice.id).wrong_passwords == 5
    assert NetworkLock.objects.get(user=alice).wrong_passwords == 5


def test_support_sees_the_wait_of_a_known_network(alice, bob):
    at(alice, HOME)
    for _ in range(5):
        attempt(HOME, "login", email=alice.email, password="wrong")
    now = timezone.now()
    assert list(User.objects.filter(lockout.is_locked(now))) == [alice]
    assert 0 < (lockout.locked_until(User.objects.get(id=alice.id), now) - now).total_seconds() <= 60
    assert lockout.locked_until(bob, now) is None
    support = admin_client(staff("Support"))
    page = support.get("/admin/accounts/user/?status=locked").content.decode()
    assert alice.email in page and "locked" in page and bob.email not in page


# --- codes ---------------------------------------------------------------------------------------


def test_requests_from_an_unknown_network_leave_the_owners_reset_open(alice, mailoutbox):
    statuses = [attempt(unknown_network(1), "forgot-password", email=alice.email) for _ in range(5)]
    assert statuses == ["200"] * 3 + ["rate_limited"] * 2
    assert attempt(HOME, "forgot-password", email=alice.email) == "200"
    assert len(mailoutbox) == 4
    code = last_code(alice.email)
    wrong = f"{(int(code) + 1) % 10**6:06d}"
    reset = {"email": alice.email, "new_password": NEW_PASSWORD}
    tried = [attempt(unknown_network(1), "verify-reset", code=wrong, **reset) for _ in range(12)]
    assert tried == ["invalid_otp"] * 10 + ["rate_limited"] * 2
    assert Code.objects.get(user=alice).tries == 5
    assert attempt(HOME, "verify-reset", code=code, **reset) == "200"


def test_requests_from_an_unknown_network_leave_the_confirmation_open(db, mailoutbox):
    una = make_user("Una", verified=False)
    statuses = [attempt(unknown_network(1), "resend-otp", email=una.email) for _ in range(4)]
    assert statuses == ["200"] * 3 + ["rate_limited"]
    assert attempt(HOME, "resend-otp", email=una.email) == "200"
    code = last_code(una.email)
    wrong = f"{(int(code) + 1) % 10**6:06d}"
    tried = [attempt(unknown_network(1), "verify", email=una.email, code=wrong) for _ in range(11)]
    assert tried == ["invalid_otp"] * 10 + ["rate_limited"]
    assert attempt(HOME, "verify", email=una.email, code=code) == "200"


def test_a_code_has_five_tries_a_network_and_fifteen_in_all(alice):
    code = codes.issue(user=alice, purpose="reset", address=alice.email)
    wrong = f"{(int(code) + 1) % 10**6:06d}"

    def try_from(address, text=wrong):
        redeem_code(user=alice, purpose="reset", address=alice.email, text=text, network=address)

    for number in range(4):
        for _ in range(7):
            with pytest.raises(InvalidOtp):
                try_from(unknown_network(number))
        assert Code.objects.get(user=alice).tries == min(15, 5 * (number + 1))
    with pytest.raises(InvalidOtp):
        try_from(HOME, code)
    # A new code has new tries, in the same networks too.
    code = codes.issue(user=alice, purpose="reset", address=alice.email)
    try_from(unknown_network(1), code)


@pytest.mark.django_db(transaction=True)
def test_parallel_tries_of_many_networks_are_counted_exactly(monkeypatch):
    compared = []
    matches = codes.keyed_digest_matches
    monkeypatch.setattr(codes, "keyed_digest_matches", lambda *values: (compared.append(1), matches(*values))[1])
    alice = make_user("Alice")
    code = codes.issue(user=alice, purpose="reset", address=alice.email)
    wrong = f"{(int(code) + 1) % 10**6:06d}"

    def guess(number):
        codes.check(user=alice, purpose="reset", address=alice.email, text=wrong, network=unknown_network(number % 2))

    assert {type(outcome) for outcome in parallel_outcomes(30, guess)} == {InvalidOtp}
    assert len(compared) == Code.objects.get(user=alice).tries == 10
    assert sorted(CodeTries.objects.values_list("tries", flat=True)) == [5, 5]
    parallel_outcomes(20, lambda number: guess(2))
    parallel_outcomes(20, lambda number: codes.check(
        user=alice, purpose="reset", address=alice.email, text=wrong, network=unknown_network(3)
    ))  # fmt: skip
    assert len(compared) == Code.objects.get(user=alice).tries == 15


def test_unknown_networks_use_up_the_mails_of_unknown_networks_only(alice, mailoutbox):
    at(alice, HOME)
    for number in range(14):
        assert attempt(unknown_network(number), "forgot-password", email=alice.email) == "200"
    assert len(mailoutbox) == 10
    assert attempt(HOME, "forgot-password", email=alice.email) == "200"
    assert len(mailoutbox) == 11
    assert mailoutbox[-1].to == [alice.email]


def test_twenty_code_mails_an_hour_to_one_address_at_most(alice):
    at(alice, HOME)
    sent = [
        codes.may_be_mailed(address=alice.email, asked_for=alice, network=network)
        for network in (HOME, unknown_network(1))
        for _ in range(12)
    ]
    assert sent == ([True] * 10 + [False] * 2) * 2


def test_a_mailed_second_step_counts_with_its_network(settings, alice, mailoutbox):
    settings.RATELIMIT_ENABLE = False
    enable_two_step(ApiClient(sign_in(alice)[1]), alice)
    Session.objects.all().delete()
    waiting = send_second_step(alice)
    settings.RATELIMIT_ENABLE = True
    mailoutbox.clear()
    replies = {
        str(client(unknown_network(number), waiting.token).post(f"{AUTH}/resend-two-step")) for number in range(12)
    }
    assert len(replies) == 1
    assert len(mailoutbox) == 10


def test_a_change_of_address_mails_one_address_ten_times_an_hour(db, settings, mailoutbox):
    settings.RATELIMIT_ENABLE = False
    replies = set()
    for number in range(4):
        user = make_user(f"User{number}")
        owner = client(HOME, sign_in(user)[1])
        for _ in range(3):
            settings.RATELIMIT_ENABLE = False
            headers = {"X-Action-Token": action_token(owner, user, "change_email")}
            settings.RATELIMIT_ENABLE = True
            replies.add(str(owner.post(f"{AUTH}/change-email", {"email": "victim@example.com"}, headers=headers)))
    assert len(replies) == 1
    assert sum(mail.to == ["victim@example.com"] for mail in mailoutbox) == 10


def test_one_network_asks_for_sixty_codes_an_hour(db):
    for path in ("forgot-password", "resend-otp"):
        statuses = Counter(attempt(unknown_network(1), path, email=f"u{number}@example.com") for number in range(62))
        assert statuses == {"200": 60, "rate_limited": 2}
        assert attempt(unknown_network(2), path, email="u61@example.com") == "200"


@pytest.mark.parametrize("path", ["verify", "verify-reset"])
def test_one_network_tries_sixty_codes_a_minute(db, path):
    body = {"code": "000000", "new_password": NEW_PASSWORD}
    tried = Counter(attempt(unknown_network(1), path, email=f"u{number}@example.com", **body) for number in range(62))
    assert tried == {"invalid_otp": 60, "rate_limited": 2}


# --- which networks are known ----------------------------------------------------------------------


def test_one_ipv6_network_is_64_bits_and_a_mapped_address_is_ipv4(alice):
    at(alice, "2001:db8:1:2::1")
    at(alice, "192.0.2.10")
    assert networks.knows_network(alice, "2001:db8:1:2::")
    assert not networks.knows_network(alice, "2001:db8:1:3::")
    for _ in range(5):
        assert attempt("2001:db8:1:9::1", "login", email=alice.email, password="wrong") == "invalid_credentials"
    # Another address of the same /64, and the same network in the lock.
    assert attempt("2001:db8:1:9::2", "login", email=alice.email, password=PASSWORD) == "rate_limited"
    assert attempt("2001:db8:1:2:ffff::9", "login", email=alice.email, password=PASSWORD) == "200"
    assert attempt("::ffff:192.0.2.10", "login", email=alice.email, password=PASSWORD) == "200"


def test_networks_are_known_by_sessions_and_trusted_devices_of_ninety_days(alice, bob, clock):
    assert not networks.knows_network(alice, HOME)
    live = at(alice, HOME)
    assert networks.knows_network(alice, HOME)
    assert not networks.knows_network(bob, HOME)
    assert not networks.knows_network(None, HOME)
    sessions.revoke([live], reason="logout")
    assert networks.knows_network(alice, HOME)

    removed = at(alice, OFFICE)
    sessions.revoke([removed], reason="revoked")
    assert not networks.knows_network(alice, "2001:db8:1:2::")

    device, _token = trusted_devices.remember_device(user=alice)
    ended = at(alice, "203.0.113.1", trusted_device=device)
    sessions.revoke([ended], reason="password_changed")
    assert networks.knows_network(alice, "203.0.113.1")
    clock.forward(days=31)
    assert not networks.knows_network(alice, "203.0.113.1")
    clock.forward(days=60)
    assert not networks.knows_network(alice, HOME)


def test_a_session_without_address_makes_no_network_known(alice):
    at(alice, None)
    assert not networks.knows_network(alice, "unknown")


# --- signed-in users ---------------------------------------------------------------------------------


def test_other_writes_are_120_a_minute_and_signing_out_is_counted_apart(alice, as_alice, as_bob):
    def write(number):
        path = ("/api/v1/profile", "/api/v1/profile/privacy")[number % 2]
        return as_alice.raw(("PATCH", "PUT")[number % 2], path, {}).status_code

    assert [write(number) for number in range(122)] == [200] * 120 + [429] * 2
    refused = as_alice.patch("/api/v1/profile", {}, status=429)
    assert refused["error"] == "rate_limited" and 1 <= refused["retry_after"] <= 60
    as_bob.patch("/api/v1/profile", {})
    as_alice.get("/api/v1/profile")
    # A copied token that uses up the writes does not keep its owner from ending it.
    other = sign_in(alice)[0]
    as_alice.delete(f"{AUTH}/sessions/{other.id}")
    as_alice.post(f"{AUTH}/sessions/revoke-others")
    as_alice.post(f"{AUTH}/logout")


def test_thirty_blocks_a_minute(as_alice, bob):
    answers = [as_alice.raw("POST", "/api/v1/profile/blocks", {"user_id": bob.id}).status_code for _ in range(32)]
    assert answers == [200] * 30 + [429] * 2
