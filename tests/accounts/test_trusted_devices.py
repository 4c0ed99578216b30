"""A trusted device skips the second step until the trust ends."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.models import TrustedDevice
from accounts.sign_in import stages as login_service
from accounts.sign_in import trusted_devices
from tests.accounts.steps import SECOND, act, enable_two_step, login, send_second_step
from tests.client import ApiClient
from tests.factories import PASSWORD
from tests.parallel import parallel_outcomes

TWO_STEP = "/api/v1/auth/two-step"
LOGIN = "/api/v1/auth/login"
DEVICES = "/api/v1/auth/devices"
ORIGIN = {"Origin": "https://chat.example.com"}


@pytest.fixture
def codes(alice, as_alice):
    return enable_two_step(as_alice, alice)


@pytest.fixture
def remembered(alice, codes):
    """The reply of a second step with `remember`, from a phone."""
    client = send_second_step(alice, **{"X-Device-Name": "Alice's phone"})
    return client.post(TWO_STEP, {"password": SECOND, "remember": True})


def test_an_app_gets_a_device_token_and_sends_it_as_a_header(alice, remembered):
    assert remembered.keys() == {"ok", "token", "expires_at", "user", "device_token"}
    body = login(alice, **{"X-Device-Token": remembered["device_token"]})
    assert body.keys() == {"ok", "token", "expires_at", "user"}


def test_without_remember_there_is_none(alice, codes):
    body = send_second_step(alice).post(TWO_STEP, {"password": SECOND, "remember": False})
    assert "device_token" not in body
    assert TrustedDevice.objects.count() == 0


def test_a_browser_gets_a_cookie_that_no_script_reads(alice, codes):
    client = send_second_step(alice, **ORIGIN)
    response = client.raw("POST", TWO_STEP, {"password": SECOND, "remember": True})
    assert response.json().keys() == {"ok", "token", "expires_at", "user"}
    cookie = response.cookies["trusted_device"]
    assert cookie["httponly"]
    assert cookie["secure"]
    assert cookie["samesite"] == "Lax"
    assert cookie["max-age"] == 30 * 86_400
    again = ApiClient(Cookie=f"trusted_device={cookie.value}", **ORIGIN)
    assert "token" in again.post(LOGIN, {"email": alice.email, "password": PASSWORD})


def test_it_does_not_replace_the_first_password(alice, remembered):
    headers = {"X-Device-Token": remembered["device_token"]}
    assert login(alice, "not it at all", status=401, **headers)["error"] == "invalid_credentials"


def test_it_works_for_its_own_account_only(alice, bob, as_bob, remembered):
    enable_two_step(as_bob, bob)
    assert "two_step_token" in login(bob, **{"X-Device-Token": remembered["device_token"]})


def test_thirty_days_and_not_a_second_more(alice, remembered):
    headers = {"X-Device-Token": remembered["device_token"]}
    now = timezone.now()
    with time_machine.travel(now + timedelta(days=29, hours=23)):
        assert "token" in login(alice, **headers)
    with time_machine.travel(now + timedelta(days=30, seconds=1)):
        assert "two_step_token" in login(alice, **headers)


def test_the_list_shows_it_and_never_its_token(alice, remembered):
    body = ApiClient(remembered["token"]).get(DEVICES)
    row = TrustedDevice.objects.get()
    assert body["devices"] == [
        {
            "id": row.id,
            "device_name": "Alice's phone",
            "created_at": body["devices"][0]["created_at"],
            "last_used_at": body["devices"][0]["last_used_at"],
            "expires_at": body["devices"][0]["expires_at"],
        }
    ]
    assert remembered["device_token"] not in str(body)
    assert row.digest not in str(body)


def test_removing_it_ends_the_sessions_that_it_opened(alice, as_alice, remembered):
    headers = {"X-Device-Token": remembered["device_token"]}
    skipped = ApiClient(login(alice, **headers)["token"])
    first = ApiClient(remembered["token"])
    assert as_alice.delete(f"{DEVICES}/{TrustedDevice.objects.get().id}") == {"ok": True}
    for client in (skipped, first):
        assert client.get("/api/v1/auth/me", status=401)["error"] == "token_revoked"
    as_alice.get("/api/v1/auth/me")
    assert as_alice.get(DEVICES)["devices"] == []
    assert "two_step_token" in login(alice, **headers)


def test_other_peoples_and_odd_ids_are_not_found(alice, as_alice, as_bob, remembered):
    device_id = TrustedDevice.objects.get().id
    absent = as_bob.raw("DELETE", f"{DEVICES}/999999999").json()
    for odd in (str(device_id), "0", "-1", "1e3", "١", "9" * 30, "x", "1.0", " 1", "%00"):
        body = as_bob.delete(f"{DEVICES}/{odd}", status=404)
        assert body | {"request_id": ""} == absent | {"request_id": ""}
    assert TrustedDevice.objects.count() == 1


@pytest.mark.parametrize("cause", ["change_password", "two_step_change", "two_step_disable"])
def test_a_new_password_of_either_kind_ends_the_trust(alice, as_alice, remembered, cause):
    new = "amber window 77"
    requests = {
        "change_password": ("change-password", {"current_password": PASSWORD, "new_password": new}),
        "two_step_change": ("two-step/change", {"password": SECOND, "new_password": new}),
        "two_step_disable": ("two-step/disable", {"password": SECOND}),
    }
    act(as_alice, alice, cause, *requests[cause])
    assert TrustedDevice.objects.count() == 0


def test_a_reset_by_mail_ends_the_trust(alice, remembered):
    from tests.accounts.steps import last_code

    ApiClient().post("/api/v1/auth/forgot-password", {"email": alice.email})
    data = {"email": alice.email, "code": last_code(alice.email), "new_password": "amber window 77"}
    ApiClient().post("/api/v1/auth/verify-reset", data)
    body = login(alice, "amber window 77", **{"X-Device-Token": remembered["device_token"]})
    assert "two_step_token" in body


def test_eleven_devices_are_ten(alice, codes):
    for _ in range(11):
        send_second_step(alice).post(TWO_STEP, {"password": SECOND, "remember": True})
    assert TrustedDevice.objects.filter(user=alice).count() == 10


@pytest.mark.django_db(transaction=True)
class TestRemovalDuringASignIn:
    def test_between_the_look_up_and_the_commit_the_second_step_is_asked_for(self, alice, remembered, monkeypatch):
        device = TrustedDevice.objects.get()
        compare = login_service._is_right

        def compare_and_lose_the_device(*args):
            parallel_outcomes(1, lambda _: trusted_devices.remove_device(user=alice, device_id=device.id))
            return compare(*args)

        monkeypatch.setattr(login_service, "_is_right", compare_and_lose_the_device)
        body = login(alice, **{"X-Device-Token": remembered["device_token"]})
        assert body.keys() == {"ok", "two_step_required", "two_step_token", "hint"}

    def test_no_answer_is_a_failure_and_no_session_of_a_removed_device_lives(self, alice, as_alice, remembered):
        for _ in range(6):
            client = send_second_step(alice)
            token = client.post(TWO_STEP, {"password": SECOND, "remember": True})["device_token"]
            device = TrustedDevice.objects.latest("id")

            def work(number, token=token, device=device):
                if number == 2:
                    return as_alice.raw("DELETE", f"{DEVICES}/{device.id}")
                data = {"email": alice.email, "password": PASSWORD}
                return ApiClient().raw("POST", LOGIN, data, headers={"X-Device-Token": token})

            got = parallel_outcomes(5, work)
            assert [answer.status_code for answer in got] == [200] * 5, [answer.content for answer in got]
            signed_in = [answer.json()["token"] for answer in got if "token" in answer.json()]
            for token in signed_in:
                assert ApiClient(token).get("/api/v1/auth/me", status=401)["error"] == "token_revoked"
