"""When the password, the address and two-step verification were changed, as their owner reads it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import EmailChange
from accounts.selectors import MAX_SECURITY_CHANGES
from accounts.services import account_status
from tests.accounts.steps import SECOND, act, enable_two_step, last_code
from tests.accounts.test_change_email import NEW, begin, move, undo_link
from tests.accounts.test_email_undo import change_password, go
from tests.client import ApiClient
from tests.factories import sign_in

PATH = "/api/v1/auth/security-changes"
NEW_SECOND = "amber compass 77"


def types(client):
    return [change["type"] for change in client.get(PATH)["changes"]]


def reset(client, user):
    ApiClient().post("/api/v1/auth/forgot-password", {"email": user.email})
    data = {"email": user.email, "code": last_code(user.email), "new_password": "nine quiet rivers"}
    ApiClient().post("/api/v1/auth/verify-reset", data)


def staff_sets_the_password(client, user):
    account_status.set_password(user=user, actor="cli:root", new_password="nine quiet rivers", reason="asked")


def change_second(client, user):
    enable_two_step(client, user)
    data = {"password": SECOND, "new_password": NEW_SECOND}
    act(client, user, "two_step_change", "two-step/change", data)


def disable(client, user):
    enable_two_step(client, user)
    act(client, user, "two_step_disable", "two-step/disable", {"password": SECOND})


def replace_codes(client, user):
    enable_two_step(client, user)
    act(client, user, "recovery_codes", "two-step/recovery-codes")


def undo(client, user):
    old = user.email
    move(client, user)
    go(undo_link(old))


def undo_two(client, user):
    old = user.email
    move(client, user)
    link = undo_link(old)
    user.refresh_from_db()
    move(client, user, "third.alice@example.org")
    go(link)


WAYS = {
    "nothing": (lambda client, user: None, []),
    "password changed": (change_password, ["password_changed"]),
    "password reset": (reset, ["password_changed"]),
    "password set by staff": (staff_sets_the_password, ["password_changed"]),
    "two-step on": (enable_two_step, ["two_step_set"]),
    # The codes are older than the second password then.
    "two-step changed": (change_second, ["two_step_set", "recovery_codes_made"]),
    "two-step off": (disable, ["two_step_disabled"]),
    "new recovery codes": (replace_codes, ["recovery_codes_made", "two_step_set"]),
    "address asked for": (begin, []),
    "address changed": (move, ["email_changed"]),
    "address undone": (undo, ["email_change_undone", "email_changed"]),
    "two addresses undone by one link": (undo_two, ["email_change_undone", "email_changed", "email_changed"]),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_change_is_listed_with_its_time(alice, as_alice, way):
    act_out, expected = WAYS[way]
    before = timezone.now()
    act_out(as_alice, alice)
    _, token = sign_in(alice)
    body = ApiClient(token).get(PATH)
    assert body == {"ok": True, "changes": body["changes"]}
    assert [change["type"] for change in body["changes"]] == expected
    for change in body["changes"]:
        assert set(change) == {"type", "created_at"} and change["created_at"].endswith("Z")
        assert before.isoformat() <= change["created_at"].replace("Z", "+00:00") <= timezone.now().isoformat()
    times = [change["created_at"] for change in body["changes"]]
    assert times == sorted(times, reverse=True)


def test_only_the_own_changes_are_listed(alice, as_alice, as_bob):
    change_password(as_alice, alice)
    move(ApiClient(sign_in(alice)[1]), alice)
    assert types(as_bob) == []
    assert ApiClient().get(PATH, status=401)["error"] == "token_invalid"


def test_the_list_is_short_and_takes_two_queries_more_than_me(alice, as_alice, django_assert_num_queries):
    now = timezone.now()
    EmailChange.objects.bulk_create(
        EmailChange(user=alice, old_email=alice.email, new_email=NEW, confirmed_at=now + timedelta(seconds=n),
                    undone_at=now + timedelta(seconds=n), expires_at=now)
        for n in range(MAX_SECURITY_CHANGES)
    )  # fmt: skip
    as_alice.get("/api/v1/auth/me")
    with django_assert_num_queries(3):
        changes = as_alice.get(PATH)["changes"]
    assert len(changes) == MAX_SECURITY_CHANGES
