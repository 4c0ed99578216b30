"""How often something may be asked for, by whom, and what happens when the counter is gone."""

import itertools
import secrets
import socket
from collections import Counter
from types import SimpleNamespace

import pytest
from django.test import RequestFactory
from django.utils import timezone

from accounts.models import RateCount, records
from core import network
from core.api import ratelimits
from core.api.exceptions import RateLimited
from core.api.throttles import throttles_of
from core.network import network_of_request
from tests.client import ApiClient
from tests.contract.test_declared_rates import api_writes
from tests.factories import PASSWORD, make_user, sign_in
from tests.parallel import parallel_outcomes

AUTH = "/api/v1/auth"


@pytest.fixture
def rates(settings, db, monkeypatch):
    """Rates on, with nothing counted yet; time stands still, so that no window ends inside a test."""
    now = timezone.now()
    monkeypatch.setattr("django_ratelimit.core.time", SimpleNamespace(time=now.timestamp))
    monkeypatch.setattr(records, "timezone", SimpleNamespace(now=lambda: now))
    settings.RATELIMIT_ENABLE = True
    settings.RATELIMIT_CACHE_PREFIX = secrets.token_hex(8)
    monkeypatch.setattr(ratelimits, "_counter_retry_at", 0.0)
    return settings


@pytest.fixture
def dead_counter(rates):
    """The cache is a Redis at a closed port."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    alive = rates.CACHES
    rates.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": f"redis://127.0.0.1:{port}",
            "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 0.5},
        }
    }
    yield rates
    rates.CACHES = alive


def limited(response):
    body = response.json()
    if response.status_code != 429:
        return False
    assert set(body) == {"ok", "error", "message", "retry_after", "request_id"}
    assert body["error"] == "rate_limited"
    assert isinstance(body["retry_after"], int) and 1 <= body["retry_after"] <= 60
    assert response.headers["Retry-After"] == str(body["retry_after"])
    return True


def tries(number, path, body, client=None, **headers):
    client = client or ApiClient()
    return [limited(client.raw("POST", f"{AUTH}/{path}", body, headers=headers)) for _ in range(number)]


def test_five_sign_ins_a_minute_for_one_client_and_address(rates):
    ann, ben = make_user("Ann"), make_user("Ben")
    right = {"email": ann.email, "password": PASSWORD}
    assert tries(7, "login", right) == [False] * 5 + [True] * 2
    assert tries(1, "login", {"email": ann.email.upper(), "password": PASSWORD}) == [True]
    assert tries(1, "login", {"email": ben.email, "password": PASSWORD}) == [False]
    rates.CORE_TRUSTED_PROXIES = 1
    assert tries(1, "login", right, **{"X-Forwarded-For": "192.0.2.7"}) == [False]


def test_thirty_sign_ins_a_minute_for_one_client(rates):
    results = [tries(1, "login", {"email": f"u{n}@example.com", "password": "x"})[0] for n in range(33)]
    assert results == [False] * 30 + [True] * 3


@pytest.mark.parametrize("email", ["known@example.com", "unconfirmed@example.com", "nobody@example.com"])
@pytest.mark.parametrize("path", ["resend-otp", "forgot-password"])
def test_three_codes_a_minute_for_known_and_unknown_addresses(rates, path, email, mailoutbox):
    make_user("Ann", email="known@example.com")
    make_user("Ann", email="unconfirmed@example.com", verified=False)
    assert tries(5, path, {"email": email}) == [False] * 3 + [True] * 2
    assert len(mailoutbox) <= 3


def test_the_other_rates(rates):
    ann = make_user("Ann", verified=False)
    assert tries(12, "verify", {"email": ann.email, "code": "000000"}) == [False] * 10 + [True] * 2
    new = {"email": ann.email, "code": "000000", "new_password": "another horse 9"}
    assert tries(12, "verify-reset", new) == [False] * 10 + [True] * 2
    assert tries(22, "signup", {}) == [False] * 20 + [True] * 2
    client = ApiClient(sign_in(ann)[1])
    assert tries(32, "refresh", None, client) == [False] * 30 + [True] * 2


def test_one_client_does_not_use_up_anothers_refreshes(rates):
    ann = make_user("Ann")
    assert any(tries(32, "refresh", None, ApiClient(sign_in(ann)[1])))
    assert tries(1, "refresh", None, ApiClient(sign_in(ann)[1])) == [False]


def test_more_than_ten_code_mails_an_hour_are_silently_not_sent(rates, mailoutbox):
    rates.ACCOUNTS_RATES = {"resend_otp": (1000, 60, "allow")}
    ann = make_user("Ann", verified=False)
    assert tries(15, "resend-otp", {"email": ann.email}) == [False] * 15
    assert len(mailoutbox) == 10


def test_rates_can_be_switched_off(rates):
    rates.RATELIMIT_ENABLE = False
    assert not any(tries(1, "login", {"email": f"u{n}@example.com", "password": "x"})[0] for n in range(40))
    for _ in range(1000):
        ratelimits.check("login", "x")


# --- whose address ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("proxies", "peer", "forwarded", "address"),
    [
        (0, "192.0.2.1", "6.6.6.6", "192.0.2.1"),
        (0, "192.0.2.1", None, "192.0.2.1"),
        (1, "10.0.0.1", "6.6.6.6, 192.0.2.1", "192.0.2.1"),
        (1, "10.0.0.1", " 192.0.2.1 ", "192.0.2.1"),
        (2, "10.0.0.1", "6.6.6.6, 192.0.2.1, 10.0.0.2", "192.0.2.1"),
        (2, "10.0.0.1", "192.0.2.1", "10.0.0.1"),
        (1, "10.0.0.1", None, "10.0.0.1"),
        (1, "10.0.0.1", "", "10.0.0.1"),
        (1, "10.0.0.1", "not an address", "10.0.0.1"),
        (1, "10.0.0.1", "6.6.6.6,'; DROP TABLE", "10.0.0.1"),
        (1, "10.0.0.1", "192.0.2.1:4711", "192.0.2.1"),
        (1, "10.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"),
        (0, "::ffff:192.0.2.1", None, "192.0.2.1"),
        (0, "fe80::1%eth0", None, "fe80::1"),
        (0, "", None, None),
        (0, "unix:", None, None),
    ],
)
def test_the_client_is_counted_from_the_right(settings, proxies, peer, forwarded, address):
    settings.CORE_TRUSTED_PROXIES = proxies
    headers = {} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded}
    assert network.address_of(RequestFactory().get("/", REMOTE_ADDR=peer, **headers)) == address


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("192.0.2.1", "192.0.2.2", False),
        (None, None, True),
    ],
)
def test_what_counts_as_one_client(one, other, same):
    assert (network.network_of(one) == network.network_of(other)) is same


# --- IPv6: a home has 256 networks, an office 65,536 ------------------------------------------

# Those that are counted by a network, and one that is not.
BY_NETWORK = sorted(
    {
        throttle.scope
        for method, _path, handler in api_writes()
        for throttle in throttles_of(handler, method)
        if throttle.by.__name__.startswith("network")
    }
)


def uses_until_refused(scope, keys):
    """How often the scope may be used, by these keys in turn."""
    for number, key in enumerate(itertools.cycle(keys)):
        if not ratelimits.allows(scope, key):
            return number
    raise AssertionError("no limit")


@pytest.mark.parametrize("rest", ["", " ann@example.com"])
@pytest.mark.parametrize("scope", BY_NETWORK)
def test_wider_networks_share_a_multiple_of_every_allowance(rates, scope, rest):
    owner = next(prefix for prefix in ("ACCOUNTS", "NOTIFICATIONS") if scope in ratelimits.scopes(prefix))
    setattr(rates, f"{owner}_RATES", {scope: (5, 60, "database")})
    one_line = [f"2001:db8:1:{number:x}::{rest}" for number in range(256)]
    assert uses_until_refused(scope, one_line[:1]) == 5
    # The refused use of one network took nothing from its neighbours.
    assert uses_until_refused(scope, one_line[1:]) == 20 - 5
    one_site = [f"2001:db8:1:{number:x}00::{rest}" for number in range(1, 256)]
    assert uses_until_refused(scope, one_site) == 80 - 20
    # A /48 that is over leaves the next one alone, and IPv4 has no wider network.
    assert uses_until_refused(scope, [f"2001:db8:2:1::{rest}"]) == 5
    assert uses_until_refused(scope, [f"192.0.2.{number}{rest}" for number in range(256)]) == 256 * 5


def test_the_wider_allowances_are_counted_without_the_cache_too(dead_counter):
    keys = [f"2001:db8:1:{number:x}::" for number in range(256)]
    assert uses_until_refused("signup", keys) == 80


@pytest.mark.parametrize("path", ["signup", "login", "verify", "forgot-password", "resend-otp", "verify-reset"])
def test_a_home_with_a_network_to_each_request(rates, path, monkeypatch):
    """Through the entry points: 256 networks of one line have four times the allowance of one, not 256 times."""
    rates.CORE_TRUSTED_PROXIES = 1
    scope = path if path == "signup" else f"{path.replace('-', '_')}_network"
    [(allowed, _seconds, _store)] = ratelimits.rates_of(scope)
    rates.ACCOUNTS_RATES = {scope: (allowed // 5, 60, "database")}
    statuses = Counter()
    for number in range(allowed // 5 * 4 + 10):
        body = {
            "email": f"u{number}@example.com", "password": PASSWORD, "first_name": "Ann", "last_name": "Example",
            "language": "en", "code": "123456", "new_password": PASSWORD,
        }  # fmt: skip
        client = ApiClient(None, **{"X-Forwarded-For": f"2001:db8:1:{number % 256:x}::{number + 1:x}"})
        statuses[limited(client.raw("POST", f"{AUTH}/{path}", body))] += 1
    assert statuses == {False: allowed // 5 * 4, True: 10}


@pytest.mark.parametrize(
    ("narrow", "wider"),
    [
        ("2001:db8:1:2ff::", ["2001:db8:1:200::/56", "2001:db8:1::/48"]),
        ("fe80::", ["fe80::/56", "fe80::/48"]),
        ("192.0.2.1", []),
        ("unknown", []),
        ("a:b", []),
    ],
)
def test_the_wider_networks_of_a_client(narrow, wider):
    assert [name for name, _times in network.wider_networks(narrow)] == wider


def test_forged_headers_change_nothing(rates):
    ann = make_user("Ann")
    right = {"email": ann.email, "password": PASSWORD}
    results = []
    for n in range(50):
        forged = {"X-Forwarded-For": f"203.0.113.{n}", "X-Real-IP": f"203.0.113.{n}", "Forwarded": f"for=203.0.113.{n}"}
        results += tries(1, "login", right, **forged)
    assert results == [False] * 5 + [True] * 45


def test_a_client_without_address_is_counted_too(rates):
    factory = RequestFactory()
    for _ in range(30):
        ratelimits.check("login_network", network_of_request(factory.get("/", REMOTE_ADDR="")))
    with pytest.raises(RateLimited):
        ratelimits.check("login_network", network_of_request(factory.get("/", REMOTE_ADDR="garbage")))


# --- the counter itself -----------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_parallel_uses_are_counted_exactly(rates):
    results = parallel_outcomes(40, lambda n: ratelimits.allows("verify", "one key"))
    assert results.count(True) == 10


def test_without_counter_secrets_are_guarded_by_rows(dead_counter):
    ann = make_user("Ann")
    assert tries(7, "login", {"email": ann.email, "password": PASSWORD}) == [False] * 5 + [True] * 2
    assert RateCount.objects.exists()
    assert ann.email not in "".join(RateCount.objects.values_list("key", flat=True))


def test_without_counter_code_mails_and_sign_up_stay_limited_and_other_writes_go_on(dead_counter, mailoutbox):
    dead_counter.CORE_TRUSTED_PROXIES = 1
    ann = make_user("Ann")
    for number in range(14):
        headers = {"X-Forwarded-For": f"198.51.100.{number}"}
        assert tries(1, "forgot-password", {"email": ann.email}, **headers) == [False]
    assert len(mailoutbox) == 10
    assert tries(22, "signup", {}) == [False] * 20 + [True] * 2
    client = ApiClient(sign_in(ann)[1])
    assert {client.raw("PATCH", "/api/v1/profile", {}).status_code for _ in range(125)} == {200}


def test_processes_without_a_common_counter_count_secrets_in_rows(rates):
    rates.CORE_COUNTER_IS_SHARED = False
    assert [ratelimits.allows("verify", "one key") for _ in range(12)] == [True] * 10 + [False] * 2
    assert RateCount.objects.get().count == 12
    assert [ratelimits.allows("refresh", "one key") for _ in range(31)] == [True] * 30 + [False]
    assert RateCount.objects.count() == 1


def test_without_counter_reading_goes_on(dead_counter):
    client = ApiClient(sign_in(make_user("Ann"))[1])
    assert tries(40, "refresh", None, client) == [False] * 40


@pytest.mark.django_db(transaction=True)
def test_parallel_uses_are_counted_exactly_without_counter(dead_counter):
    results = parallel_outcomes(40, lambda n: ratelimits.allows("verify", "one key"))
    assert results.count(True) == 10


def test_a_dead_counter_is_not_asked_at_every_request(dead_counter, monkeypatch):
    keys = []
    usage = ratelimits.get_usage
    monkeypatch.setattr(ratelimits, "get_usage", lambda *args, **kw: (keys.append(1), usage(*args, **kw))[1])
    for _ in range(20):
        ratelimits.check("refresh", "one key")
    assert len(keys) == 1
    monkeypatch.setattr(ratelimits, "_counter_retry_at", 0.0)
    ratelimits.check("refresh", "one key")
    assert len(keys) == 2


def test_a_counter_that_answers_nonsense_is_as_good_as_dead(rates, monkeypatch):
    monkeypatch.setattr(
        ratelimits, "get_usage", lambda *a, **k: {"count": 0, "limit": 0, "should_limit": True, "time_left": -1}
    )
    ratelimits.check("refresh", "key")
    for _ in range(10):
        ratelimits.check("verify", "key")
    with pytest.raises(RateLimited):
        ratelimits.check("verify", "key")


def test_other_apps_bring_scopes_with_a_burst_and_a_long_run(rates, monkeypatch):
    monkeypatch.setattr(ratelimits, "_defaults", dict(ratelimits._defaults))
    ratelimits.register("TEST", {"test_burst": ((3, 5, "allow"), (4, 3600, "allow"))})
    assert [ratelimits.allows("test_burst", "a") for _ in range(5)][:3] == [True] * 3
    assert not ratelimits.allows("test_burst", "a")
    assert ratelimits.allows("test_burst", "b")
    with pytest.raises(LookupError):
        ratelimits.check("nobody_registered_this", "a")
