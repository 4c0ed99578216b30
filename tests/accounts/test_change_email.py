"""A new address, and the way back to the old one."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from accounts.models import EmailChange, User
from accounts.services import registration
from accounts.sign_in import codes, sessions
from tests.accounts.steps import act, action_token, answers, last_code, login
from tests.client import ApiClient
from tests.factories import PASSWORD, make_user, sign_in
from tests.parallel import parallel_outcomes

NEW = "new.alice@example.org"
VERIFY = "/api/v1/auth/change-email/verify"
UNDO = "/api/v1/auth/change-email/undo"
SIGNUP = {"first_name": "Eve", "last_name": "Else", "password": "cobalt river 31"}


def begin(client, user, email=NEW, status=200):
    return act(client, user, "change_email", "change-email", {"email": email}, status=status)


def move(client, user, email=NEW):
    begin(client, user, email)
    return client.post(VERIFY, {"code": last_code(email)})


def undo_link(to):
    sent = next(sent for sent in reversed(mail.outbox) if sent.to == [to])
    return re.search(r"https?://[^/\s]+(/email-undo/[\w-]+)", sent.body)[1]


def test_the_code_goes_to_the_new_address_and_nothing_changes_before(alice, as_alice):
    body = begin(as_alice, alice)
    assert body == {"ok": True, "message": body["message"]}
    assert mail.outbox[-1].to == [NEW]
    assert as_alice.get("/api/v1/auth/me")["user"]["email"] == alice.email
    assert "token" in login(alice)


def test_the_code_moves_the_account(alice, as_alice):
    old = alice.email
    body = move(as_alice, alice)
    assert body == {"ok": True, "message": body["message"], "email": NEW}
    assert mail.outbox[-1].to == [old]
    assert NEW in mail.outbox[-1].body
    user = as_alice.get("/api/v1/auth/me")["user"]
    assert (user["email"], user["is_verified"]) == (NEW, True)
    assert "token" in ApiClient().post("/api/v1/auth/login", {"email": NEW, "password": PASSWORD})
    ApiClient().post("/api/v1/auth/login", {"email": old, "password": PASSWORD}, status=401)


def test_a_code_is_refused_when_another_change_was_started_meanwhile(alice, as_alice, monkeypatch):
    begin(as_alice, alice)
    check = codes.check

    def check_and_start_again(**given):
        checked = check(**given)
        EmailChange.objects.filter(user=alice).delete()
        return checked

    monkeypatch.setattr(codes, "check", check_and_start_again)
    assert as_alice.post(VERIFY, {"code": last_code(NEW)}, status=400)["error"] == "invalid_otp"
    assert as_alice.get("/api/v1/auth/me")["user"]["email"] == alice.email


@pytest.mark.parametrize(
    "email", ["", "x", "a@b", "two@@example.com", 7, None, "a" * 250 + "@example.com", "a\x00@example.com"]
)
def test_what_is_no_address(alice, as_alice, email):
    assert list(begin(as_alice, alice, email, status=400)["fields"]) == ["email"]


def test_a_taken_address_is_refused_and_costs_no_permission(alice, bob, as_alice):
    headers = {"X-Action-Token": action_token(as_alice, alice, "change_email")}
    path = "/api/v1/auth/change-email"
    for taken in (bob.email, bob.email.upper(), alice.email):
        assert as_alice.post(path, {"email": taken}, status=409, headers=headers)["error"] == "email_taken"
    as_alice.post(path, {"email": NEW}, headers=headers)


def test_a_wrong_or_old_code_and_no_change_are_invalid(alice, as_alice, as_bob):
    assert as_alice.post(VERIFY, {"code": "123456"}, status=400)["error"] == "invalid_otp"
    begin(as_alice, alice)
    code = last_code(NEW)
    wrong = f"{(int(code) + 1) % 1_000_000:06d}"
    assert as_alice.post(VERIFY, {"code": wrong}, status=400)["error"] == "invalid_otp"
    assert as_bob.post(VERIFY, {"code": code}, status=400)["error"] == "invalid_otp"
    with time_machine.travel(timezone.now() + timedelta(minutes=10, seconds=1)):
        assert as_alice.post(VERIFY, {"code": code}, status=400)["error"] == "invalid_otp"
    as_alice.post(VERIFY, {"code": code})
    assert as_alice.post(VERIFY, {"code": code}, status=400)["error"] == "invalid_otp"


def test_a_second_change_replaces_the_first(alice, as_alice):
    begin(as_alice, alice, "first@example.org")
    code = last_code("first@example.org")
    begin(as_alice, alice)
    assert as_alice.post(VERIFY, {"code": code}, status=400)["error"] == "invalid_otp"
    assert as_alice.post(VERIFY, {"code": last_code(NEW)})["email"] == NEW


def test_another_user_takes_the_address_first(alice, as_alice):
    begin(as_alice, alice)
    make_user("Eve", email=NEW)
    assert as_alice.post(VERIFY, {"code": last_code(NEW)}, status=409)["error"] == "email_taken"
    assert User.objects.get(id=alice.id).email == alice.email


# --- an address that another has registered and not confirmed ----------------------------------------


def squat(email=NEW):
    """Signed in to an unconfirmed account with this address."""
    ApiClient().post("/api/v1/auth/signup", SIGNUP | {"email": email}, status=201)
    credentials = {"email": email, "password": SIGNUP["password"]}
    return ApiClient(ApiClient().post("/api/v1/auth/login", credentials)["token"])


def test_an_unconfirmed_account_does_not_keep_the_address(alice, as_alice):
    squatter = squat()
    confirmation = last_code(NEW)
    body = move(as_alice, alice)
    assert body["email"] == NEW
    assert squatter.get("/api/v1/auth/me", status=401)["error"] == "token_revoked"
    assert squatter.post("/api/v1/auth/refresh", status=401)["error"] == "token_revoked"
    credentials = {"email": NEW, "password": SIGNUP["password"]}
    assert ApiClient().post("/api/v1/auth/login", credentials, status=401)["error"] == "invalid_credentials"
    ApiClient().post("/api/v1/auth/verify", {"email": NEW, "code": confirmation}, status=400)
    assert list(User.objects.all()) == [alice]
    assert "token" in ApiClient().post("/api/v1/auth/login", {"email": NEW, "password": PASSWORD})


def test_an_account_that_signs_up_after_the_code_was_mailed_does_not_either(alice, as_alice):
    begin(as_alice, alice)
    code = last_code(NEW)
    squat()
    assert as_alice.post(VERIFY, {"code": code})["email"] == NEW
    assert list(User.objects.all()) == [alice]


def test_before_the_code_is_typed_nothing_is_taken_from_it(alice, as_alice):
    squatter = squat()
    begin(as_alice, alice)
    squatter.get("/api/v1/auth/me")
    as_alice.post(VERIFY, {"code": "000000"}, status=400)
    squatter.get("/api/v1/auth/me")


def test_who_confirms_first_has_the_address(alice, as_alice):
    squat()
    confirmation = last_code(NEW)
    begin(as_alice, alice)
    code = last_code(NEW)
    ApiClient().post("/api/v1/auth/verify", {"email": NEW, "code": confirmation})
    assert as_alice.post(VERIFY, {"code": code}, status=409)["error"] == "email_taken"


def test_an_unconfirmed_account_of_staff_keeps_its_address(alice, as_alice):
    make_user("Eve", email=NEW, verified=False, is_staff=True)
    assert begin(as_alice, alice, status=409)["error"] == "email_taken"


def test_an_undo_takes_the_old_address_from_an_unconfirmed_account(alice, as_alice, anonymous):
    """It was registered in the moment in which the change was made."""
    old = alice.email
    move(as_alice, alice)
    token = undo_link(old).rsplit("/", 1)[1]
    make_user("Eve", email=old, verified=False)
    anonymous.post(UNDO, {"token": token})
    assert [user.email for user in User.objects.all()] == [old]


def test_codes_mailed_to_the_old_address_die_with_it(alice, as_alice):
    challenge = as_alice.post("/api/v1/auth/action-challenge", {"action": "delete_account"})["challenge_token"]
    code = last_code(alice.email)
    move(as_alice, alice)
    data = {"challenge_token": challenge, "code": code}
    assert as_alice.post("/api/v1/auth/action-verify", data, status=400)["error"] == "invalid_otp"


class TestUndo:
    def test_opening_the_link_changes_nothing(self, alice, as_alice, anonymous):
        old = alice.email
        move(as_alice, alice)
        link = undo_link(old)
        for method in ("GET", "HEAD", "GET"):
            response = anonymous.raw(method, link)
            assert response.status_code == 200
            assert response["Content-Type"].startswith("text/html")
        assert old in anonymous.raw("GET", link).content.decode()
        assert User.objects.get(id=alice.id).email == NEW

    def test_the_button_restores_the_old_address_and_ends_all_sessions(self, alice, as_alice, anonymous):
        old = alice.email
        move(as_alice, alice)
        link = undo_link(old)
        assert anonymous.raw("POST", link).status_code == 200
        assert User.objects.get(id=alice.id).email == old
        assert as_alice.get("/api/v1/auth/me", status=401)["error"] == "token_revoked"
        assert "token" in login(alice)
        for method in ("POST", "GET"):
            response = anonymous.raw(method, link)
            assert (response.status_code, response["Content-Type"][:9]) == (404, "text/html")

    def test_the_link_leads_to_the_service_whatever_the_request_says(self, alice, as_alice, settings):
        settings.SITE_URL = "https://chat.example.com"
        old = alice.email
        begin(as_alice, alice)
        headers = {"Host": "localhost:6666", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http"}
        as_alice.post(VERIFY, {"code": last_code(NEW)}, headers=headers)
        sent = next(sent for sent in reversed(mail.outbox) if sent.to == [old])
        for text in (sent.body, sent.alternatives[0][0]):
            assert set(re.findall(r"https?://[^/\s]+", text)) == {"https://chat.example.com"}

    def test_the_same_for_programs(self, alice, as_alice, anonymous):
        old = alice.email
        move(as_alice, alice)
        token = undo_link(old).rsplit("/", 1)[1]
        body = anonymous.post(UNDO, {"token": token})
        assert body == {"ok": True, "message": body["message"]}
        assert anonymous.post(UNDO, {"token": token}, status=404)["error"] == "not_found"
        assert anonymous.post(UNDO, {"token": "nonsense"}, status=404)["error"] == "not_found"
        assert list(anonymous.post(UNDO, {}, status=400)["fields"]) == ["token"]

    def test_seven_days(self, alice, as_alice, anonymous):
        old = alice.email
        move(as_alice, alice)
        link = undo_link(old)
        now = timezone.now()
        with time_machine.travel(now + timedelta(days=6, hours=23)):
            assert anonymous.raw("GET", link).status_code == 200
        with time_machine.travel(now + timedelta(days=7, seconds=1)):
            assert anonymous.raw("POST", link).status_code == 404

    def test_the_old_address_is_kept_free_that_long(self, alice, bob, as_alice, as_bob, anonymous):
        old = alice.email
        move(as_alice, alice)
        assert begin(as_bob, bob, old, status=409)["error"] == "email_taken"
        data = SIGNUP | {"email": old}
        assert anonymous.post("/api/v1/auth/signup", data, status=409)["error"] == "email_taken"
        with time_machine.travel(timezone.now() + timedelta(days=7, seconds=1)):
            anonymous.post("/api/v1/auth/signup", data, status=201)

    def test_one_may_go_back_in_the_ordinary_way(self, alice, as_alice):
        old = alice.email
        move(as_alice, alice)
        alice.refresh_from_db()
        assert move(as_alice, alice, old)["email"] == old

    def test_it_takes_back_later_changes_too(self, alice, as_alice, anonymous):
        old = alice.email
        move(as_alice, alice)
        link = undo_link(old)
        alice.refresh_from_db()
        move(as_alice, alice, "third@example.org")
        later = undo_link(NEW)
        anonymous.raw("POST", link)
        assert User.objects.get(id=alice.id).email == old
        assert anonymous.raw("POST", later).status_code == 404


@pytest.mark.django_db(transaction=True)
class TestRaces:
    def test_one_address_goes_to_one_account(self):
        people = [make_user(f"Ann{number}") for number in range(8)]
        clients = []
        for person in people:
            client = ApiClient(sign_in(person)[1])
            begin(client, person)
            clients.append((client, last_code(NEW)))
        got = parallel_outcomes(8, lambda n: clients[n][0].raw("POST", VERIFY, {"code": clients[n][1]}))
        assert answers(got) == {"200": 1, "email_taken": 7}
        assert User.objects.filter(email=NEW).count() == 1

    def test_one_code_moves_once(self, alice, as_alice):
        begin(as_alice, alice)
        code = last_code(NEW)
        got = parallel_outcomes(10, lambda n: as_alice.raw("POST", VERIFY, {"code": code}))
        assert answers(got) == {"200": 1, "invalid_otp": 9}

    def test_sign_up_and_change_do_not_share_an_address(self, alice, as_alice):
        begin(as_alice, alice)
        code = last_code(NEW)

        def work(number):
            if number == 0:
                return as_alice.raw("POST", VERIFY, {"code": code})
            return ApiClient().raw("POST", "/api/v1/auth/signup", SIGNUP | {"email": NEW})

        counted = answers(parallel_outcomes(4, work))
        # A sign-up that came first has not confirmed the address.
        assert counted.get("201", 0) <= 1 and counted["email_taken"] == 3 - counted.get("201", 0)
        assert User.objects.get(email=NEW).id == alice.id
        assert User.objects.count() == 1

    def test_a_confirmation_and_a_change_do_not_share_an_address(self, alice, as_alice):
        """Both have a code that was mailed to the address: the first one gets it."""
        ApiClient().post("/api/v1/auth/signup", SIGNUP | {"email": NEW}, status=201)
        confirmation = last_code(NEW)
        begin(as_alice, alice)
        code = last_code(NEW)

        def work(number):
            if number % 2:
                return as_alice.raw("POST", VERIFY, {"code": code})
            return ApiClient().raw("POST", "/api/v1/auth/verify", {"email": NEW, "code": confirmation})

        counted = answers(parallel_outcomes(6, work))
        assert counted.pop("200") == 1
        assert set(counted) <= {"invalid_otp", "email_taken"}
        assert User.objects.get(email=NEW).has_verified_email
        assert User.objects.count() == (1 if User.objects.get(email=NEW).id == alice.id else 2)

    def test_the_purge_and_a_change_at_once(self, alice, as_alice):
        eve = make_user("Eve", email=NEW, verified=False)
        begin(as_alice, alice)
        code = last_code(NEW)
        soon = timezone.now() + timedelta(minutes=1)
        jobs = [
            lambda: as_alice.raw("POST", VERIFY, {"code": code}).status_code,
            lambda: registration.purge_unconfirmed(created_before=soon, batch=10),
        ]
        status, _removed = parallel_outcomes(2, lambda number: jobs[number]())
        assert status == 200
        assert list(User.objects.all()) == [alice]
        assert not User.objects.filter(id=eve.id).exists()

    def test_one_link_undoes_once(self, alice, as_alice, anonymous):
        move(as_alice, alice)
        token = undo_link(alice.email).rsplit("/", 1)[1]
        got = parallel_outcomes(10, lambda n: ApiClient().raw("POST", UNDO, {"token": token}))
        assert answers(got) == {"200": 1, "not_found": 9}
        assert EmailChange.objects.exclude(undone_at=None).count() == 1
        assert sessions.revoke_all(user_id=alice.id, reason="test") == 0
