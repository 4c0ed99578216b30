"""The end of an account: two weeks of grace, then nothing personal is left."""

from datetime import timedelta

import pytest
import time_machine
from django.apps import apps
from django.core import mail
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import AuditEntry, Session, User
from accounts.services import audit, erasure
from accounts.signals import account_erased
from tests.accounts.steps import SECOND, act, enable_two_step, login, send_second_step
from tests.client import ApiClient
from tests.factories import PASSWORD, sign_in
from tests.images.corpus import jpeg
from tests.parallel import parallel_outcomes
from tests.staff import staff

ME = "/api/v1/auth/me"


def delete_account(client, user):
    return act(client, user, "delete_account", "delete-account", {})


def test_it_signs_out_everywhere_and_says_when(alice, as_alice):
    _, elsewhere = sign_in(alice)
    body = delete_account(as_alice, alice)
    assert body == {"ok": True, "message": body["message"], "erase_after": body["erase_after"]}
    alice.refresh_from_db()
    assert timedelta(days=13, hours=23) < alice.erase_after - timezone.now() <= timedelta(days=14)
    for client in (as_alice, ApiClient(elsewhere)):
        assert client.get(ME, status=401)["error"] == "token_revoked"
    assert mail.outbox[-1].subject == "Your account will be deleted"
    assert f"{alice.erase_after:%Y-%m-%d}" in mail.outbox[-1].body


def test_who_leaves_is_not_offered_to_others_unless_they_come_back(alice, as_alice, as_bob):
    start = {"user_id": alice.id}
    delete_account(as_alice, alice)
    assert as_bob.get(f"/api/v1/messages/users?q={alice.username}")["users"] == []
    assert as_bob.post("/api/v1/messages/conversations", start, status=404)["error"] == "user_not_found"
    login(alice)
    assert len(as_bob.get(f"/api/v1/messages/users?q={alice.username}")["users"]) == 1
    as_bob.post("/api/v1/messages/conversations", start, status=201)


def test_signing_in_cancels(alice, as_alice):
    delete_account(as_alice, alice)
    with time_machine.travel(timezone.now() + timedelta(days=13)):
        login(alice, "not it at all", status=401)
        assert User.objects.get(id=alice.id).erase_after is not None
        mail.outbox.clear()
        login(alice)
    assert "Your account will be kept" in [sent.subject for sent in mail.outbox]
    assert User.objects.get(id=alice.id).erase_after is None
    assert erasure.erase_due(now=timezone.now() + timedelta(days=15), batch=10) == 0


def test_with_two_steps_it_takes_both(alice, as_alice):
    enable_two_step(as_alice, alice)
    delete_account(as_alice, alice)
    client = send_second_step(alice)
    assert User.objects.get(id=alice.id).erase_after is not None
    client.post("/api/v1/auth/two-step", {"password": SECOND})
    assert User.objects.get(id=alice.id).erase_after is None


def test_it_is_erased_after_two_weeks_and_not_before(alice, bob, as_alice):
    delete_account(as_alice, alice)
    now = timezone.now()
    assert erasure.erase_due(now=now + timedelta(days=13, hours=23), batch=10) == 0
    assert erasure.erase_due(now=now + timedelta(days=14, seconds=1), batch=10) == 1
    assert erasure.erase_due(now=now + timedelta(days=14, seconds=1), batch=10) == 0
    assert User.objects.get(id=alice.id).erased_at is not None
    assert User.objects.get(id=bob.id).erased_at is None


class TestErased:
    @pytest.fixture
    def erased(self, alice, bob, as_alice, as_bob):
        """Alice, who has left traces everywhere, after her erasure."""
        User.objects.filter(id=alice.id).update(bio="plays the theremin", last_name="Quastenflosser")
        alice.refresh_from_db()
        enable_two_step(as_alice, alice, hint="under the doormat")
        client = send_second_step(alice, **{"X-Device-Name": "Quastenphone"})
        client.post("/api/v1/auth/two-step", {"password": SECOND, "remember": True})
        as_alice.post("/api/v1/profile/blocks", {"user_id": bob.id})
        as_bob.post("/api/v1/profile/blocks", {"user_id": alice.id})
        as_alice.delete(f"/api/v1/profile/blocks/{bob.id}")
        as_bob.delete(f"/api/v1/profile/blocks/{alice.id}")
        start = as_alice.post("/api/v1/messages/conversations", {"user_id": bob.id}, status=201)
        conversation_path = f"/api/v1/messages/conversations/{start['conversation']['id']}"
        as_alice.post(f"{conversation_path}/messages", {"body": "my theremin is flat"}, status=201)
        as_bob.post(f"{conversation_path}/messages", {"body": "then tune it"}, status=201)
        as_alice.post("/api/v1/profile/push-token", {"token": "token-of-quastenphone"})
        act(as_alice, alice, "change_email", "change-email", {"email": "quasten@example.org"})
        entry = audit.record(action="user.note", actor=alice, target=bob)
        AuditEntry.objects.filter(id=entry.id).update(ip="192.0.2.77")
        audit.record(action="user.note", actor=bob, target=alice, reason="flosser asked", note="quasten")
        self.conversation_path = conversation_path
        self.traces = [
            alice.email, alice.username, "Quastenflosser", "quasten", "theremin", "doormat", "flosser", "192.0.2.77",
        ]  # fmt: skip
        self.before = everything_stored()
        assert erasure.erase(user_id=alice.id)
        return alice

    def test_no_table_holds_anything_personal(self, erased):
        for trace in self.traces:
            assert trace.lower() in self.before
        after = everything_stored()
        assert [trace for trace in self.traces if trace.lower() in after] == []

    def test_only_the_nameless_row_is_left_of_the_account(self, erased):
        row = User.objects.get(id=erased.id)
        assert (row.first_name, row.last_name, row.bio, row.avatar_token) == ("", "", None, "")
        assert row.username.startswith("deleted_")
        assert not row.has_usable_password()
        for model in apps.get_app_config("accounts").get_models():
            for field in model._meta.get_fields():
                if (
                    field.is_relation
                    and field.concrete
                    and field.related_model is User
                    and model.__name__ != "AuditEntry"
                ):
                    assert not model.objects.filter(**{field.name: row}).exists(), (model, field.name)

    def test_its_tokens_are_revoked_and_sign_in_is_refused(self, erased, as_alice, anonymous):
        assert as_alice.get(ME, status=401)["error"] == "token_revoked"
        data = {"email": erased.email, "password": PASSWORD}
        assert anonymous.post("/api/v1/auth/login", data, status=401)["error"] == "invalid_credentials"

    def test_other_users_cannot_find_it_or_write_to_it(self, erased, bob, as_bob):
        users = as_bob.get("/api/v1/messages/users?q=deleted")["users"]
        assert erased.id not in [user["id"] for user in users]
        assert as_bob.get("/api/v1/messages/users?q=alice")["users"] == []
        body = as_bob.post(f"{self.conversation_path}/messages", {"body": "hello?"}, status=403)
        assert body["error"] == "message_permission_denied"
        body = as_bob.post("/api/v1/profile/blocks", {"user_id": erased.id}, status=404)
        assert body["error"] == "user_not_found"

    def test_the_other_participant_keeps_their_own_messages(self, erased, as_bob):
        messages = as_bob.get(f"{self.conversation_path}/messages")["messages"]
        assert [message["body"] for message in messages] == ["then tune it"]
        [row] = as_bob.get("/api/v1/messages/conversations")["conversations"]
        assert row["other_user"]["first_name"] == ""
        assert row["unread_count"] == 0

    def test_the_address_is_free_again(self, erased, anonymous):
        data = {"first_name": "Alice", "last_name": "Again", "email": erased.email, "password": PASSWORD}
        anonymous.post("/api/v1/auth/signup", data, status=201)

    def test_a_second_erasure_finds_no_account(self, erased):
        assert erasure.erase(user_id=erased.id) is False
        assert erasure.erase(user_id=999_999_999) is False


def test_pictures_go_from_the_disk_too(alice, bob, as_alice, as_bob, django_capture_on_commit_callbacks):
    def files():
        return {
            f"{folder}/{name}"
            for folder in default_storage.listdir("")[0]
            for name in default_storage.listdir(folder)[1]
        }

    before = files() if default_storage.exists("") else set()
    upload = SimpleUploadedFile("me.jpg", jpeg(), "image/jpeg")
    as_alice.upload("/api/v1/profile/avatar", 200, "PUT", file=upload)
    start = as_alice.post("/api/v1/messages/conversations", {"user_id": bob.id}, status=201)
    media = f"/api/v1/messages/conversations/{start['conversation']['id']}/media"
    as_alice.upload(media, file=SimpleUploadedFile("cat.jpg", jpeg(), "image/jpeg"))
    assert len(files() - before) == 4
    with django_capture_on_commit_callbacks(execute=True):
        erasure.erase(user_id=alice.id)
    assert files() - before == set()


def test_an_erased_staff_member_keeps_no_second_factor(db):
    sam = staff()
    for is_confirmed in (True, False):
        TOTPDevice.objects.create(user=sam, confirmed=is_confirmed, name="app")
    StaticDevice.objects.create(user=sam, name="static codes").token_set.create(token="a-code")
    erasure.erase(user_id=sam.id)
    assert not TOTPDevice.objects.exists()
    assert not StaticToken.objects.exists()


def test_signals_are_sent_inside_the_transaction(alice):
    def refuse(**_):
        raise RuntimeError("cannot let go")

    account_erased.connect(refuse)
    try:
        with pytest.raises(RuntimeError):
            erasure.erase(user_id=alice.id)
    finally:
        account_erased.disconnect(refuse)
    alice.refresh_from_db()
    assert (alice.erased_at, alice.first_name) == (None, "Alice")


def everything_stored():
    """Every value of every table, as one lower-case text."""
    tables = [table for table in connection.introspection.table_names() if not table.startswith("django_migrations")]
    with connection.cursor() as cursor:
        rows = []
        for table in tables:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            rows += [str(row) for row in cursor.fetchall()]
    return "\n".join(rows).lower()


@pytest.mark.django_db(transaction=True)
class TestRaces:
    def test_two_purges_at_once_erase_once(self, alice, as_alice):
        delete_account(as_alice, alice)
        later = timezone.now() + timedelta(days=15)
        assert sorted(parallel_outcomes(4, lambda n: erasure.erase_due(now=later, batch=10))) == [0, 0, 0, 1]

    def test_a_sign_in_and_the_purge_at_the_last_moment(self, alice, as_alice):
        delete_account(as_alice, alice)
        later = timezone.now() + timedelta(days=15)
        data = {"email": alice.email, "password": PASSWORD}

        def work(number):
            if number == 0:
                return erasure.erase_due(now=later, batch=10)
            return ApiClient().raw("POST", "/api/v1/auth/login", data).status_code

        erased, *statuses = parallel_outcomes(4, work)
        user = User.objects.get(id=alice.id)
        if erased:
            assert user.erased_at is not None
            assert not Session.objects.filter(user=user).exists()
        else:
            assert user.erased_at is None
            assert 200 in statuses

    def test_messages_that_arrive_during_an_erasure_fail_cleanly(self, alice, bob, as_alice, as_bob):
        start = as_alice.post("/api/v1/messages/conversations", {"user_id": bob.id}, status=201)
        conversation_path = f"/api/v1/messages/conversations/{start['conversation']['id']}"

        def work(number):
            if number == 0:
                return erasure.erase(user_id=alice.id)
            client = as_alice if number % 2 else as_bob
            return client.raw("POST", f"{conversation_path}/messages", {"body": f"number {number}"}).status_code

        erased, *statuses = parallel_outcomes(8, work)
        assert erased is True
        assert set(statuses) <= {201, 401, 403, 404}
        # What Alice had on its way may have arrived after the erasure: the next purge finds it.
        erasure.erase_due(now=timezone.now(), batch=10)
        messages = as_bob.get(f"{conversation_path}/messages")["messages"]
        assert {message["sender_id"] for message in messages} <= {bob.id}
        stored = everything_stored()
        assert not [number for number in (1, 3, 5, 7) if f"number {number}" in stored]
