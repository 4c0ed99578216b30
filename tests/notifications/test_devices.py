"""Push tokens: whose they are, how they move, and that they end with the sign-in."""

from datetime import timedelta

import pytest
from django.contrib.admin import site
from django.db import connection
from django.utils import timezone
from fcm_django.admin import DeviceAdmin as FCMDeviceAdmin
from fcm_django.models import AbstractFCMDevice, FCMDevice
from swapper import load_model

from accounts.services import account_status, erasure
from accounts.sign_in import sessions
from notifications.models import Delivery, Device, Notification, Preferences
from notifications.services import devices
from tests.client import ApiClient
from tests.factories import make_user, sign_in
from tests.parallel import parallel_outcomes

URL = "/api/v1/profile/push-token"
OK = {"ok": True}


def waiting(device):
    return Delivery.objects.filter(device=device, state="pending").count()


@pytest.mark.django_db
class TestRegistering:
    def test_a_token_alone_is_enough(self, as_alice, alice):
        assert as_alice.post(URL, {"token": "abc:def-1"}) == OK
        device = Device.objects.get()
        assert (device.user, device.type, device.active) == (alice, "android", True)
        assert device.session == alice.sessions.get()

    def test_an_account_that_was_removed_just_now_gets_none(self, monkeypatch):
        user = make_user()
        client = ApiClient(sign_in(user)[1])
        register = devices.register

        def later(**values):
            assert erasure.erase(user_id=user.id)
            return register(**values)

        monkeypatch.setattr(devices, "register", later)
        assert client.post(URL, {"token": "abc"}, status=401)["error"] == "token_revoked"

    def test_all_that_may_be_said(self, as_alice):
        data = {
            "token": "t" * 4096,
            "platform": "ios",
            "device_id": "phone 1",
            "locale": "pt-BR",
            "app_version": "1.2.3",
            "colour": "red",
        }
        assert as_alice.post(URL, data) == OK
        device = Device.objects.get()
        assert [device.registration_id, device.type, device.device_id, device.locale, device.app_version] == [
            "t" * 4096, "ios", "phone 1", "pt-BR", "1.2.3",
        ]  # fmt: skip

    def test_nothing_optional_is_nothing(self, as_alice):
        nulls = {"device_id": None, "locale": None, "app_version": None}
        assert as_alice.post(URL, {"token": "abc"} | nulls) == OK
        assert as_alice.post(URL, {"token": "def", "device_id": ""}) == OK
        assert set(Device.objects.values_list("device_id", flat=True)) == {None}

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("token", ...),
            ("token", ""),
            ("token", None),
            ("token", 7),
            ("token", True),
            ("token", ["abc"]),
            ("token", "t" * 4097),
            ("token", "a b"),
            ("token", " abc"),
            ("token", "a\nb"),
            ("token", "a\0b"),
            ("token", "\ud800"),
            ("token", "тoken"),
            ("platform", "windows"),
            ("platform", None),
            ("platform", 1),
            ("device_id", 7),
            ("device_id", "x" * 256),
            ("device_id", "a\0b"),
            ("locale", "not a language"),
            ("locale", "x" * 36),
            ("locale", 7),
            ("app_version", "x" * 51),
            ("app_version", 1.2),
        ],
    )
    def test_nonsense_is_refused_by_name(self, as_alice, field, value):
        data = {"token": "abc"} | {field: value}
        body = as_alice.post(URL, {name: v for name, v in data.items() if v is not ...}, status=400)
        assert (body["error"], list(body["fields"])) == ("validation_error", [field])
        assert not Device.objects.exists()

    def test_a_megabyte_is_too_large(self, as_alice):
        assert as_alice.post(URL, {"token": "t" * 1_000_000}, status=413)["error"] == "file_too_large"

    def test_again_is_the_same_device_seen_later(self, as_alice):
        as_alice.post(URL, {"token": "abc"})
        Device.objects.update(active=False, failures=3, last_seen_at=timezone.now() - timedelta(days=9))
        assert as_alice.post(URL, {"token": "abc"}) == OK
        device = Device.objects.get()
        assert (device.active, device.failures) == (True, 0)
        assert timezone.now() - device.last_seen_at < timedelta(minutes=5)

    def test_a_new_token_of_a_known_device_replaces_the_old_one(self, as_alice, as_bob):
        as_bob.post(URL, {"token": "bobs", "device_id": "phone 1"})
        as_alice.post(URL, {"token": "old", "device_id": "phone 1"})
        as_alice.post(URL, {"token": "new", "device_id": "phone 1"})
        as_alice.post(URL, {"token": "tablet", "device_id": "tablet"})
        tokens = set(Device.objects.values_list("registration_id", flat=True))
        assert tokens == {"bobs", "new", "tablet"}

    def test_a_token_that_is_known_elsewhere_and_a_device_that_is_known_here_become_one(self, as_alice, as_bob, alice):
        as_bob.post(URL, {"token": "shared", "device_id": "phone 1"})
        as_alice.post(URL, {"token": "old", "device_id": "phone 1"})
        as_alice.post(URL, {"token": "shared", "device_id": "phone 1"})
        device = Device.objects.get()
        assert (device.user, device.registration_id) == (alice, "shared")

    def test_a_token_moves_and_the_former_owners_pushes_to_it_do_not_leave(
        self, as_alice, as_bob, alice, bob, charlie, like
    ):
        as_alice.post(URL, {"token": "phone"})
        as_alice.post(URL, {"token": "tablet"})
        like(charlie, alice)
        phone = Device.objects.get(registration_id="phone")
        tablet = Device.objects.get(registration_id="tablet")
        assert (waiting(phone), waiting(tablet)) == (1, 1)
        assert as_bob.post(URL, {"token": "phone"}) == OK
        phone.refresh_from_db()
        assert phone.user == bob
        assert (waiting(phone), waiting(tablet)) == (0, 1)

    def test_twenty_devices_and_the_one_longest_unseen_goes(self, as_alice, as_bob):
        as_bob.post(URL, {"token": "bobs"})
        for number in range(20):
            as_alice.post(URL, {"token": f"token-{number}"})
        as_alice.post(URL, {"token": "token-0"})
        as_alice.post(URL, {"token": "token-20"})
        tokens = set(Device.objects.values_list("registration_id", flat=True))
        assert tokens == {"bobs", "token-0", *(f"token-{number}" for number in range(2, 21))}

    def test_a_token_is_needed_to_register_one(self, anonymous):
        anonymous.post(URL, {"token": "abc"}, status=401)
        anonymous.delete(URL, {"token": "abc"}, status=401)

    def test_an_unconfirmed_account_takes_no_token_over(self, as_alice, alice):
        as_alice.post(URL, {"token": "abc"})
        client = ApiClient(sign_in(make_user("Uma", verified=False))[1])
        assert client.post(URL, {"token": "abc"}, status=403)["error"] == "email_not_verified"
        assert client.post("/api/v1/notifications/test-push", status=403)["error"] == "email_not_verified"
        client.delete(URL, {"token": "abc"})
        assert Device.objects.get().user == alice


@pytest.mark.django_db
class TestRemoval:
    def test_ones_own_alone(self, as_alice, as_bob):
        as_alice.post(URL, {"token": "abc"})
        for client, token in ((as_bob, "abc"), (as_alice, "unknown")):
            assert client.delete(URL, {"token": token}) == OK
            assert Device.objects.count() == 1
        assert as_alice.delete(URL, {"token": "abc"}) == OK
        assert not Device.objects.exists()

    @pytest.mark.parametrize("body", [{}, {"token": ""}, {"token": 7}, {"token": None}])
    def test_nonsense_is_refused(self, as_alice, body):
        assert list(as_alice.delete(URL, body, status=400)["fields"]) == ["token"]

    def test_what_waits_for_it_does_not_leave(self, as_alice, alice, bob, like):
        as_alice.post(URL, {"token": "abc"})
        like(bob, alice)
        as_alice.delete(URL, {"token": "abc"})
        assert not Delivery.objects.filter(state="pending").exists()


@pytest.mark.django_db
class TestEnds:
    def test_with_the_sign_in_that_registered_it(self, alice, bob, like):
        (first, first_token), (_, second_token) = sign_in(alice), sign_in(alice)
        ApiClient(first_token).post(URL, {"token": "phone"})
        ApiClient(second_token).post(URL, {"token": "tablet"})
        like(bob, alice)
        sessions.revoke([first], reason="logout")
        assert [device.registration_id for device in Device.objects.all()] == ["tablet"]
        assert Delivery.objects.filter(state="pending").count() == 1

    def test_not_with_a_refresh(self, alice):
        _, token = sign_in(alice)
        ApiClient(token).post(URL, {"token": "phone"})
        ApiClient(token).post("/api/v1/auth/refresh")
        assert Device.objects.count() == 1

    def test_with_a_block_by_staff(self, as_alice, as_bob, alice):
        as_alice.post(URL, {"token": "a"})
        as_bob.post(URL, {"token": "b"})
        account_status.block(user=alice, actor="test", reason="spam")
        assert [device.registration_id for device in Device.objects.all()] == ["b"]

    def test_with_a_block_by_staff_also_of_a_sign_in_that_has_expired(self, as_alice, alice):
        as_alice.post(URL, {"token": "a"})
        alice.sessions.update(expires_at=timezone.now() - timedelta(days=1))
        account_status.block(user=alice, actor="test", reason="spam")
        assert not Device.objects.exists()

    def test_with_the_account(self, as_alice, as_bob, alice, bob, charlie, like):
        as_alice.post(URL, {"token": "a"})
        as_alice.put(
            "/api/v1/notifications/preferences",
            dict.fromkeys(("enabled", "quiet_mode", "likes", "comments", "follows", "messages"), True),
        )
        like(charlie, alice, 7)
        like(charlie, bob, 8)
        like(alice, bob, 8)
        like(alice, bob, 9)
        account_status.erase(user=alice, actor="test")
        assert not Device.objects.exists()
        assert not Preferences.objects.exists()
        row = Notification.objects.get()
        assert (row.recipient, row.target_id, row.count, row.actor) == (bob, 8, 1, charlie)


@pytest.mark.django_db
class TestTestPush:
    def test_to_ones_own_devices(self, as_alice, as_bob, alice):
        url = "/api/v1/notifications/test-push"
        assert as_alice.post(url) == {"ok": True, "devices": 0}
        as_alice.post(URL, {"token": "a"})
        as_alice.post(URL, {"token": "b"})
        as_bob.post(URL, {"token": "c"})
        assert as_alice.post(url) == {"ok": True, "devices": 2}
        assert set(Delivery.objects.values_list("device__registration_id", flat=True)) == {"a", "b"}

    def test_three_a_minute(self, as_alice, settings):
        settings.RATELIMIT_ENABLE = True
        for _ in range(3):
            as_alice.post("/api/v1/notifications/test-push")
        body = as_alice.post("/api/v1/notifications/test-push", status=429)
        assert body["error"] == "rate_limited"
        assert 1 <= body["retry_after"] <= 60


@pytest.mark.django_db
def test_no_reply_ever_holds_a_token(as_alice):
    as_alice.post(URL, {"token": "super-secret-token"})
    for path in ("auth/me", "auth/sessions", "auth/devices", "notifications", "notifications/preferences"):
        assert "super-secret" not in str(as_alice.get(f"/api/v1/{path}"))
    device = Device.objects.get()
    assert "super-secret" not in f"{device} {device!r} {device.masked_token}"


@pytest.mark.django_db(transaction=True)
def test_a_token_that_many_register_at_once_belongs_to_one(db):
    people = [make_user(f"Person{number}") for number in range(6)]
    clients = [ApiClient(sign_in(person)[1]) for person in people]

    def register(index):
        for number in range(5):
            clients[index].post(URL, {"token": "shared", "device_id": f"phone {number % 2}"})

    assert parallel_outcomes(len(clients), register) == [None] * len(clients)
    assert Device.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_no_more_than_twenty_even_when_all_come_at_once(alice):
    session, _ = sign_in(alice)

    def register(index):
        for number in range(8):
            devices.register(user_id=alice.id, session_id=session.id, token=f"{index}-{number}")

    assert parallel_outcomes(6, register) == [None] * 6
    assert Device.objects.count() == 20


def test_a_device_is_one_of_fcm_django(as_alice):
    names = {field.name for field in Device._meta.get_fields()}
    assert {field.name for field in AbstractFCMDevice._meta.get_fields()} <= names
    # The library's tools find it, and its own model has no table.
    assert load_model("fcm_django", "fcmdevice") is Device
    assert FCMDevice._meta.db_table not in connection.introspection.table_names()
    as_alice.post(URL, {"token": "phone"})
    assert Device.objects.get_registration_ids() == ["phone"]
    assert Device.objects.deactivate(reason="lost", source="test") == ["phone"]
    assert Device.objects.get_registration_ids() == []


def test_the_support_pages_list_devices_without_the_librarys_actions():
    page = site._registry[Device]
    assert isinstance(page, FCMDeviceAdmin) and page.actions == ("test_push",)
    assert tuple(page.list_filter) == ("active", "type")
