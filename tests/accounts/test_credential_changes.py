"""A credential change ends what came before: earlier tokens of the session that goes on, too."""

import pytest

from accounts.models import Session
from accounts.sign_in import sessions
from tests.accounts.steps import SECOND, act, action_token, enable_two_step
from tests.client import ApiClient
from tests.factories import PASSWORD, sign_in
from tests.parallel import parallel_outcomes

NEW = "amber window 77"
CHANGE = {"current_password": PASSWORD, "new_password": NEW}
ME = "/api/v1/auth/me"
REFRESH = "/api/v1/auth/refresh"


def is_dead(token):
    for method, path in (("GET", ME), ("POST", REFRESH)):
        assert ApiClient(token).request(method, path, None, 401)["error"] == "token_revoked"


def test_a_copied_token_neither_works_nor_renews_after_a_new_password(alice):
    session, copied = sign_in(alice)
    newest = act(ApiClient(copied), alice, "change_password", "change-password", CHANGE)["token"]
    is_dead(copied)
    # The copy ends nothing: the owner, who has just proved to be the owner, stays signed in.
    ApiClient(newest).get(ME)
    renewed = ApiClient(newest).post(REFRESH)["token"]
    is_dead(copied)
    ApiClient(renewed).get(ME)
    assert Session.objects.get(id=session.id).ended_at is None


def test_a_renewed_copy_is_dead_as_well(alice):
    _, first = sign_in(alice)
    second = sessions.refresh(first)
    newest = act(ApiClient(second), alice, "change_password", "change-password", CHANGE)["token"]
    is_dead(first)
    is_dead(second)
    ApiClient(newest).get(ME)


def test_grace_begins_again_after_the_change(alice, as_alice):
    newest = act(as_alice, alice, "change_password", "change-password", CHANGE)["token"]
    next_one = ApiClient(newest).post(REFRESH)["token"]
    ApiClient(newest).get(ME)
    ApiClient(next_one).get(ME)
    ApiClient(newest).post(REFRESH)


@pytest.mark.parametrize("change", ["enable", "change", "disable"])
def test_a_second_password_leaves_no_grace_to_earlier_tokens(alice, change):
    _, first = sign_in(alice)
    _, elsewhere = sign_in(alice)
    second = sessions.refresh(first)
    client = ApiClient(second)
    if change != "enable":
        enable_two_step(client, alice)
        second, first = sessions.refresh(second), second
        client = ApiClient(second)
    ApiClient(first).get(ME)
    data = {
        "enable": {"password": SECOND},
        "change": {"password": SECOND, "new_password": "copper meadow 58"},
        "disable": {"password": SECOND},
    }[change]
    act(client, alice, f"two_step_{change}", f"two-step/{change}", data)
    is_dead(first)
    ApiClient(second).get(ME)
    ApiClient(elsewhere).get(ME)
    ApiClient(ApiClient(second).post(REFRESH)["token"]).get(ME)


@pytest.mark.django_db(transaction=True)
def test_of_a_change_and_renewals_of_a_copy_only_the_change_counts(alice):
    for number in range(4):
        alice.refresh_from_db()
        alice.set_password(PASSWORD)
        alice.save(update_fields=["password"])
        session, copied = sign_in(alice)
        client = ApiClient(copied)
        headers = {"X-Action-Token": action_token(client, alice, "change_password")}

        def work(at, client=client, copied=copied, headers=headers):
            if at == 0:
                return client.raw("POST", "/api/v1/auth/change-password", CHANGE, headers=headers)
            return ApiClient(copied).raw("POST", REFRESH)

        answers = parallel_outcomes(6, work)
        assert not [answer for answer in answers if isinstance(answer, BaseException)]
        changed, *renewals = answers
        assert changed.status_code == 200, changed.content
        for answer in renewals:
            assert answer.status_code in (200, 401)
            if answer.status_code == 200:
                is_dead(answer.json()["token"])
        is_dead(copied)
        ApiClient(changed.json()["token"]).get(ME)
        assert Session.objects.get(id=session.id).ended_at is None, number
