"""Users that the team's own server creates, finds, changes, blocks and ends."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from accounts.models import AuditEntry, Session, User
from accounts.services import erasure
from tests.client import ApiClient
from tests.factories import PASSWORD, make_user, sign_in
from tests.integrations.server import PREFIX, new_user, server
from tests.parallel import run_parallel


@pytest.fixture
def backend(db):
    return server()


def audit_rows():
    return list(
        AuditEntry.objects.exclude(action="server_key.created").order_by("id").values_list("action", "actor_label")
    )


def test_a_user_is_created_confirmed_and_without_a_mail(backend):
    user = new_user(backend, external_id="u-1", language="de-AT")["user"]
    assert user == {
        "id": user["id"], "username": user["username"], "email": "mia@example.com", "first_name": "Mia",
        "last_name": "Miller", "is_verified": True, "bio": None, "avatar_url": None, "created_at": user["created_at"],
        "language": "de", "external_id": "u-1", "last_seen_at": None, "status": "active", "blocked_until": None,
    }  # fmt: skip
    assert mail.outbox == []
    assert re.fullmatch(r"mia_[a-z2-7]{5}", user["username"])
    assert not User.objects.get(id=user["id"]).has_usable_password()
    assert audit_rows() == [("user.added", "server key backend")]


def test_an_equal_request_returns_the_user_that_is_there(backend):
    first = new_user(backend, external_id="u-1", password="seven tall trees")["user"]
    again = new_user(backend, 200, external_id="u-1", email="MIA@example.com", first_name="Other")["user"]
    assert again == first
    assert len(audit_rows()) == 1


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"external_id": "u-2"}, "email_taken"),
        ({}, "email_taken"),
        ({"external_id": "u-1", "email": "other@example.com"}, "external_id_taken"),
    ],
)
def test_an_address_or_id_of_another_user_is_taken(backend, fields, code):
    new_user(backend, external_id="u-1")
    assert new_user(backend, 409, **fields)["error"] == code


def test_of_many_equal_requests_at_once_one_creates(transactional_db):
    key = server().token
    statuses = run_parallel([lambda: ApiClient(key).raw("POST", f"{PREFIX}/users", BODY).status_code] * 6)
    assert sorted(statuses) == [200] * 5 + [201]


BODY = {"email": "mia@example.com", "first_name": "Mia", "last_name": "Miller", "external_id": "u-1"}


def test_an_unconfirmed_user_gets_a_code(backend):
    user = new_user(backend, is_verified=False)["user"]
    assert (user["is_verified"], user["status"]) == (False, "unverified")
    assert [sent.to for sent in mail.outbox] == [["mia@example.com"]]


def test_a_password_works_and_a_user_without_one_can_set_it_by_mail(backend):
    new_user(backend, password="seven tall trees")
    ApiClient().post("/api/v1/auth/login", {"email": "mia@example.com", "password": "seven tall trees"})
    new_user(backend, email="noah@example.com")
    ApiClient().post("/api/v1/auth/login", {"email": "noah@example.com", "password": "anything at all"}, 401)
    ApiClient().post("/api/v1/auth/forgot-password", {"email": "noah@example.com"})
    code = re.search(r"\b\d{6}\b", mail.outbox[-1].body)[0]
    reset = {"email": "noah@example.com", "code": code, "new_password": "nine quiet rivers"}
    ApiClient().post("/api/v1/auth/verify-reset", reset)
    ApiClient().post("/api/v1/auth/login", {"email": "noah@example.com", "password": "nine quiet rivers"})


BAD = [
    ({"email": "nobody"}, "email"),
    ({"email": None}, "email"),
    ({"first_name": ""}, "first_name"),
    ({"first_name": 7}, "first_name"),
    ({"first_name": "x" * 51}, "first_name"),
    ({"last_name": 7}, "last_name"),
    ({"is_verified": "true"}, "is_verified"),
    ({"is_verified": 1}, "is_verified"),
    ({"external_id": ""}, "external_id"),
    ({"external_id": 7}, "external_id"),
    ({"external_id": "x" * 129}, "external_id"),
    ({"external_id": "a\nb"}, "external_id"),
    ({"external_id": "a\x00b"}, "external_id"),
    ({"external_id": " a"}, "external_id"),
    ({"password": "short"}, "password"),
    ({"password": "password"}, "password"),
    ({"password": "mia@example.com"}, "password"),
    ({"password_hash": "md5$salt$hash"}, "password_hash"),
    ({"password_hash": 7}, "password_hash"),
    ({"password": "seven tall trees", "password_hash": "pbkdf2_sha256$1$a$" + "A" * 43 + "="}, "password_hash"),
]


@pytest.mark.parametrize(("fields", "field"), BAD)
def test_bad_fields_are_named(backend, fields, field):
    body = new_user(backend, 400, **fields)
    assert (body["error"], list(body["fields"])) == ("validation_error", [field])
    assert not User.objects.filter(email="mia@example.com").exists()


def test_finding(backend, alice, bob):
    staff = make_user("Boss", is_staff=True, external_id="boss")
    User.objects.filter(id=bob.id).update(external_id="b-1")

    def ids(query=""):
        return [user["id"] for user in backend.get(f"{PREFIX}/users{query}")["users"]]

    assert ids() == [alice.id, bob.id]
    assert ids(f"?email={alice.email.upper()}") == [alice.id]
    assert ids(f"?username={bob.username.upper()}") == [bob.id]
    assert ids("?external_id=b-1") == [bob.id]
    assert ids("?external_id=B-1") == []
    assert ids(f"?external_id=b-1&email={alice.email}") == []
    assert ids(f"?email={staff.email}") == ids("?external_id=boss") == ids("?email=nonsense") == []
    assert ids("?external_id=a%00b") == ids("?email=a%00b") == ids("?username=%ED%A0%80") == []


def test_paging(backend):
    people = [make_user(f"P{number}").id for number in range(5)]
    seen, cursor = [], ""
    while True:
        reply = backend.get(f"{PREFIX}/users?limit=2{cursor}")
        seen += [user["id"] for user in reply["users"]]
        if not reply["has_more"]:
            break
        cursor = f"&cursor={reply['next_cursor']}"
    assert seen == people
    assert backend.get(f"{PREFIX}/users?cursor=x", 400)["fields"].keys() == {"cursor"}
    assert backend.get(f"{PREFIX}/users?limit=0", 400)["fields"].keys() == {"limit"}


def test_changing(backend, alice):
    changes = {"first_name": "Ada", "last_name": "", "bio": " Gardener ", "language": "fr-CA", "external_id": "a-1"}
    user = backend.patch(f"{PREFIX}/users/{alice.id}", changes)["user"]
    assert {name: user[name] for name in changes} == {**changes, "bio": "Gardener", "language": "fr"}
    assert backend.get(f"{PREFIX}/users/{alice.id}")["user"] == user
    assert backend.patch(f"{PREFIX}/users/{alice.id}", {})["user"] == user
    assert backend.patch(f"{PREFIX}/users/{alice.id}", {"external_id": None})["user"]["external_id"] is None
    assert audit_rows() == [("user.changed", "server key backend")] * 2


def test_a_blocked_user_can_be_changed(backend, alice):
    backend.post(f"{PREFIX}/users/{alice.id}/block", {"reason": "spam"})
    assert backend.patch(f"{PREFIX}/users/{alice.id}", {"first_name": "Ada"})["user"]["first_name"] == "Ada"


@pytest.mark.parametrize(
    "fields", [{"email": None}, {"email": "x"}, {"first_name": None}, {"bio": 7}, {"bio": "x" * 501}]
)
def test_bad_changes_are_named(backend, alice, fields):
    assert backend.patch(f"{PREFIX}/users/{alice.id}", fields, 400)["fields"].keys() == fields.keys()


def test_a_changed_address_is_confirmed_and_the_old_one_can_undo_it(backend, alice):
    old = alice.email
    user = backend.patch(f"{PREFIX}/users/{alice.id}", {"email": "new@example.com"})["user"]
    assert (user["email"], user["is_verified"]) == ("new@example.com", True)
    [sent] = mail.outbox
    assert sent.to == [old]
    token = sent.body.split("/email-undo/")[1].split()[0]
    ApiClient().post("/api/v1/auth/change-email/undo", {"token": token})
    assert backend.get(f"{PREFIX}/users/{alice.id}")["user"]["email"] == old


def test_an_unconfirmed_address_gets_no_power_over_the_account(backend, db):
    user = make_user("Mia", verified=False)
    reply = backend.patch(f"{PREFIX}/users/{user.id}", {"email": "new@example.com"})["user"]
    assert (reply["is_verified"], reply["status"]) == (True, "active")
    assert mail.outbox == []


def test_a_taken_address_or_id_changes_nothing(backend, alice, bob):
    User.objects.filter(id=bob.id).update(external_id="b-1")
    path = f"{PREFIX}/users/{alice.id}"
    assert backend.patch(path, {"email": bob.email, "first_name": "Ada"}, 409)["error"] == "email_taken"
    assert backend.patch(path, {"external_id": "b-1", "first_name": "Ada"}, 409)["error"] == "external_id_taken"
    assert backend.get(path)["user"]["first_name"] == "Alice"


def test_ending_erases_at_once_and_frees_the_id(backend):
    user = new_user(backend, external_id="u-1")["user"]
    path = f"{PREFIX}/users/{user['id']}"
    assert backend.delete(path, {}, 400)["fields"].keys() == {"reason"}
    assert backend.delete(path, {"reason": " "}, 400)["fields"].keys() == {"reason"}
    backend.delete(path, {"reason": "left the company"})
    assert backend.delete(path, {"reason": "left the company"}, 404)["error"] == "user_not_found"
    assert User.objects.get(id=user["id"]).erased_at is not None
    again = new_user(backend, external_id="u-1")["user"]
    assert again["id"] != user["id"]
    assert ("user.erased", "server key backend") in audit_rows()


def test_blocking_unblocking_and_signing_out(backend, alice):
    token, path = sign_in(alice)[1], f"{PREFIX}/users/{alice.id}"
    until = (timezone.now() + timedelta(days=1)).isoformat()
    backend.post(f"{path}/block", {"reason": "spam", "until": until})
    user = backend.get(path)["user"]
    assert (user["status"], user["blocked_until"] is not None) == ("blocked", True)
    assert ApiClient(token).get("/api/v1/auth/me", 403)["error"] == "account_blocked"
    backend.post(f"{path}/unblock")
    assert backend.get(path)["user"]["status"] == "active"
    token = sign_in(alice)[1]
    backend.post(f"{path}/sign-out")
    assert ApiClient(token).get("/api/v1/auth/me", 401)["error"] == "token_revoked"
    actions = ["user.blocked", "user.unblocked", "user.signed_out"]
    assert audit_rows() == [(action, "server key backend") for action in actions]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "reason"),
        ({"reason": ""}, "reason"),
        ({"reason": 7}, "reason"),
        ({"reason": "x" * 501}, "reason"),
        ({"reason": "spam", "until": "2020-01-01T00:00:00Z"}, "until"),
        ({"reason": "spam", "until": "tomorrow"}, "until"),
        ({"reason": "spam", "until": 4102444800}, "until"),
    ],
)
def test_a_block_needs_a_reason_and_an_end_in_the_future(backend, alice, body, field):
    assert backend.post(f"{PREFIX}/users/{alice.id}/block", body, 400)["fields"].keys() == {field}


OPERATIONS = [
    ("GET", "", None), ("PATCH", "", {"first_name": "X"}), ("DELETE", "", {"reason": "x"}),
    ("POST", "/block", {"reason": "x"}), ("POST", "/unblock", {}), ("POST", "/sign-out", {}), ("POST", "/sessions", {}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body"), OPERATIONS)
def test_staff_erased_and_unknown_accounts_do_not_exist(backend, method, path, body):
    boss, root = make_user("Boss", is_staff=True), make_user("Root", is_superuser=True)
    gone = make_user("Gone")
    erasure.erase(user_id=gone.id)
    before = list(User.objects.order_by("id").values())
    for user_id in (boss.id, root.id, gone.id, 999_999, "0", "-1", "x", "9" * 30, "1.0", "%00"):
        reply = backend.request(method, f"{PREFIX}/users/{user_id}{path}", body, 404)
        assert reply["error"] == "user_not_found", user_id
    assert list(User.objects.order_by("id").values()) == before
    assert not Session.objects.exists()


def test_a_session_is_opened_without_password_and_second_step(backend, alice):
    User.objects.filter(id=alice.id).update(second_password="x")
    reply = backend.post(f"{PREFIX}/users/{alice.id}/sessions", {"device_name": "Desk\x00top"}, 400)
    assert reply["fields"].keys() == {"device_name"}
    reply = backend.post(f"{PREFIX}/users/{alice.id}/sessions", {"device_name": "Desktop"}, 201)
    assert reply["user"]["id"] == alice.id
    [session] = ApiClient(reply["token"]).get("/api/v1/auth/sessions")["sessions"]
    assert (session["opened_by"], session["device_name"], session["ip"]) == ("backend", "Desktop", None)
    assert mail.outbox == []
    assert audit_rows() == [("session.opened", "server key backend")]
    own = ApiClient().post(
        "/api/v1/auth/login", {"email": make_user("Zed", email="z@example.com").email, "password": PASSWORD}
    )
    [session] = ApiClient(own["token"]).get("/api/v1/auth/sessions")["sessions"]
    assert session["opened_by"] is None


def test_no_session_for_a_blocked_account_or_one_that_is_to_be_erased(backend, alice, bob):
    backend.post(f"{PREFIX}/users/{alice.id}/block", {"reason": "spam"})
    assert backend.post(f"{PREFIX}/users/{alice.id}/sessions", {}, 403)["error"] == "account_blocked"
    User.objects.filter(id=bob.id).update(erase_after=timezone.now() + timedelta(days=3))
    assert backend.get(f"{PREFIX}/users/{bob.id}")["user"]["status"] == "deletion_scheduled"
    assert backend.post(f"{PREFIX}/users/{bob.id}/sessions", {}, 409)["error"] == "deletion_scheduled"
    assert User.objects.get(id=bob.id).erase_after is not None
    assert not Session.objects.exists()


def test_introspection(backend, alice):
    session, token = sign_in(alice)
    reply = backend.post(f"{PREFIX}/introspect", {"token": token})
    assert (reply["active"], reply["user"]["id"], reply["session_id"]) == (True, alice.id, session.id)
    assert reply["expires_at"][:10] == f"{timezone.now() + timedelta(days=7):%Y-%m-%d}"
    staff = sign_in(make_user("Boss", is_staff=True))[1]
    ApiClient(token).post("/api/v1/auth/logout")
    for bad in (token, staff, "", "x", "a.b.c", "\x00", "\ud800", "x" * 9000, backend.token):
        assert backend.post(f"{PREFIX}/introspect", {"token": bad}) == {"ok": True, "active": False}
    for body in ({}, {"token": None}, {"token": 7}):
        assert backend.post(f"{PREFIX}/introspect", body, 400)["fields"].keys() == {"token"}


def test_messages_follow_the_rules_of_their_sender(backend, alice, bob, charlie):
    def send(status=201, **fields):
        body = {"sender_id": alice.id, "recipient_id": bob.id, "body": "Welcome", **fields}
        return backend.post(f"{PREFIX}/messages", body, status)

    reply = send(client_id="w-1")
    assert reply["message"]["sender_id"] == alice.id
    assert send(200, client_id="w-1") == reply
    assert send(409, client_id="w-1", body="Other")["error"] == "idempotency_conflict"
    assert send(reply_to_id=reply["message"]["id"])["message"]["reply_to_id"] == reply["message"]["id"]
    assert send(404, reply_to_id=999)["error"] == "message_not_found"
    as_bob = ApiClient(sign_in(bob)[1])
    [conversation] = as_bob.get("/api/v1/messages/conversations")["conversations"]
    assert (conversation["id"], conversation["unread_count"]) == (reply["conversation_id"], 2)
    # A refused message leaves no conversation.
    ApiClient(sign_in(charlie)[1]).put("/api/v1/profile/privacy", {"who_can_message": "nobody"})
    assert send(403, recipient_id=charlie.id)["error"] == "message_permission_denied"
    assert send(400, recipient_id=charlie.id, body=" ")["fields"].keys() == {"body"}
    assert ApiClient(sign_in(alice)[1]).get("/api/v1/messages/conversations")["conversations"][1:] == []
    as_bob.post("/api/v1/profile/blocks", {"user_id": alice.id})
    assert send(403)["error"] == "user_blocked"
    assert send(400, recipient_id=alice.id)["fields"].keys() == {"recipient_id"}
    assert send(400, sender_id="1")["fields"].keys() == {"sender_id"}
    boss = make_user("Boss", is_staff=True)
    assert send(404, sender_id=boss.id)["error"] == send(404, recipient_id=boss.id)["error"] == "user_not_found"
    unconfirmed = make_user("New", verified=False)
    assert send(403, sender_id=unconfirmed.id)["error"] == "email_not_verified"
    assert send(404, recipient_id=unconfirmed.id)["error"] == "user_not_found"
    backend.post(f"{PREFIX}/users/{charlie.id}/block", {"reason": "spam"})
    assert send(403, sender_id=charlie.id, recipient_id=bob.id)["error"] == "account_blocked"
    sent = [row for row in audit_rows() if row[0] == "message.sent"]
    assert sent == [("message.sent", "server key backend")] * 2


def test_the_rate_of_new_conversations_is_not_the_senders(backend, settings, alice):
    settings.RATELIMIT_ENABLE = True
    for number in range(22):
        body = {"sender_id": alice.id, "recipient_id": make_user(f"R{number}").id, "body": "Welcome"}
        backend.post(f"{PREFIX}/messages", body, 201)
