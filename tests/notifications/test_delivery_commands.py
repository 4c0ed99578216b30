"""The operator's commands of the queue."""

import json
import socket
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import AuditEntry
from core.database.deletion import run_first_batches
from notifications.models import ChannelPause, Delivery
from notifications.services import purge


def run(capsys, *arguments):
    call_command(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


def exit_code(*arguments):
    with pytest.raises(CommandError) as raised:
        call_command(*arguments)
    return raised.value.returncode


def row(**fields):
    now = timezone.now()
    fields = {
        "channel": "push", "kind": "message", "state": "dead", "tries": 6, "last_error": "500",
        "dedupe_key": f"k{Delivery.objects.count()}", "expires_at": now, "finished_at": now,
    } | fields  # fmt: skip
    return Delivery.objects.create(**fields)


def test_fake_fcm_says_in_one_line_that_its_port_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with pytest.raises(CommandError, match=f"^Cannot listen on 127.0.0.1:{port}: "):
            call_command("fake_fcm", "--port", port)


@pytest.mark.django_db
class TestRetryDeliveries:
    def test_gives_dead_pushes_all_their_tries_again(self, capsys):
        dead = row()
        row(channel="mail", kind="mail")
        row(kind="incoming_call")
        row(state="sent")
        assert run(capsys, "retry_deliveries") == {"count": 1, "ids": [dead.id], "dry_run": False}
        dead.refresh_from_db()
        assert (dead.state, dead.tries, dead.finished_at) == ("pending", 0, None)
        assert dead.expires_at > timezone.now()
        assert AuditEntry.objects.get().action == "retry_deliveries"

    def test_dry_run_changes_nothing(self, capsys):
        row()
        assert run(capsys, "retry_deliveries", "--dry-run")["count"] == 1
        assert Delivery.objects.get().state == "dead" and not AuditEntry.objects.exists()

    def test_limit_and_ids(self, capsys):
        ids = [row().id for _ in range(3)]
        assert run(capsys, "retry_deliveries", "--limit", "2")["ids"] == ids[:2]
        assert run(capsys, "retry_deliveries", str(ids[2]))["ids"] == [ids[2]]

    def test_brings_forward_what_waits_mail_too(self, capsys):
        later = timezone.now() + timedelta(minutes=5)
        waiting = row(
            channel="mail", kind="mail", state="pending", due_at=later, expires_at=later, payload={"to": []},
            finished_at=None, tries=2,
        )  # fmt: skip
        run(capsys, "retry_deliveries", "--state", "pending")
        waiting.refresh_from_db()
        assert waiting.due_at <= timezone.now() and waiting.tries == 2 and waiting.payload

    def test_nothing_matched(self):
        assert exit_code("retry_deliveries") == 3


@pytest.mark.django_db(transaction=True)
class TestSendTestPush:
    def test_queues_one_for_each_device(self, capsys, bob, device_of):
        device_of(bob), device_of(bob)
        assert run(capsys, "send_test_push", bob.email)["queued"] == 2
        assert set(Delivery.objects.values_list("kind", "state")) == {("test", "pending")}

    def test_dry_run_asks_the_service_and_sends_nothing(self, capsys, fcm, bob, device_of):
        good, dead = device_of(bob), device_of(bob)
        fcm.script(dead.registration_id, "UNREGISTERED")
        answer = run(capsys, "send_test_push", str(bob.id), "--dry-run")
        assert [(one["device_id"], one["ok"], one["error"]) for one in answer["devices"]] == [
            (good.id, True, ""), (dead.id, False, "UNREGISTERED"),
        ]  # fmt: skip
        assert all(one["validate_only"] for one in fcm.requests())
        assert good.registration_id not in json.dumps(answer) and not Delivery.objects.exists()

    def test_a_service_that_takes_none_is_a_failure(self, fcm, bob, device_of):
        device_of(bob)
        fcm.script("*", "UNREGISTERED")
        assert exit_code("send_test_push", bob.email, "--dry-run") == 1

    def test_does_not_queue_what_no_process_sends(self, bob, as_bob, settings):
        as_bob.post("/api/v1/profile/push-token", {"token": "some-token"})
        settings.NOTIFICATIONS_PUSH_BACKEND = "off"
        before = AuditEntry.objects.count(), Delivery.objects.count()
        with pytest.raises(CommandError, match="Push is switched off"):
            call_command("send_test_push", bob.email)
        assert (AuditEntry.objects.count(), Delivery.objects.count()) == before

    def test_no_account_and_no_device_are_nothing_matched(self, bob):
        assert exit_code("send_test_push", "nobody@example.com") == 3
        assert exit_code("send_test_push", bob.email) == 3


@pytest.mark.django_db
def test_stats(capsys, alice, bob):
    now = timezone.now()
    for user, until in ((alice, now - timedelta(hours=1)), (bob, None)):
        user.blocked_at, user.blocked_until = now - timedelta(days=1), until
        user.save()
    row()
    row(state="pending", expires_at=timezone.now() + timedelta(hours=1), finished_at=None)
    ChannelPause.objects.create(channel="mail", reason="down", until=timezone.now())
    result = run(capsys, "stats")
    assert result["deliveries"]["push"]["dead"] == 1 and result["deliveries"]["push"]["pending"] == 1
    assert result["oldest_due_seconds"] >= 0 and result["paused"]["mail"]["reason"] == "down"
    assert result["people"] == {"all": 2, "confirmed": 2, "blocked": 1}


@pytest.mark.django_db
def test_the_log_is_kept_for_two_weeks():
    now = timezone.now()
    row(finished_at=now - timedelta(days=15))
    remaining = [row(finished_at=now - timedelta(days=13)), row(finished_at=None, state="pending")]
    assert run_first_batches(purge.jobs(now, 100))["deliveries"] == 1
    assert sorted(Delivery.objects.values_list("id", flat=True)) == [one.id for one in remaining]


def test_checks_say_how_to_mend_the_settings(settings, tmp_path):
    from notifications import checks

    assert checks.sender() == []
    settings.DEFAULT_FROM_EMAIL = "Parley <no-reply"
    assert [result.id for result in checks.sender()] == ["notifications.E004"]
    settings.NOTIFICATIONS_PUSH_BACKEND = "fcm"
    settings.NOTIFICATIONS_FCM_CREDENTIALS = str(tmp_path / "account.json")
    for content in ("root:x:0:0", "[]", '{"type": "authorized_user"}'):
        (tmp_path / "account.json").write_text(content)
        assert [result.id for result in checks.push()] == ["notifications.E002"]
    (tmp_path / "account.json").write_text('{"type": "service_account"}')
    assert checks.push() == []
    settings.NOTIFICATIONS_PUSH_BACKEND = "fcm"
    settings.NOTIFICATIONS_FCM_CREDENTIALS = ""
    settings.NOTIFICATIONS_FCM_ENDPOINT = "https://fcm.example.com"
    assert [result.id for result in checks.push()] == ["notifications.E002"]
    assert [result.id for result in checks.push_endpoint()] == ["notifications.E003"]
    settings.NOTIFICATIONS_PUSH_BACKEND = "pigeon"
    assert [result.id for result in checks.push()] == ["notifications.E001"]
    settings.NOTIFICATIONS_PUSH_BACKEND = "outbox"
    settings.NOTIFICATIONS_MAIL_TRANSPORT = {"BACKEND": "django.core.mail.backends.console.EmailBackend"}
    assert [result.id for result in checks.production()] == ["notifications.W001", "notifications.W002"]
