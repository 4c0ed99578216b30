"""The documented bodies and statuses of sign-up, confirmation, sign-in and recovery, through HTTP."""

import re
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from accounts.models import Session, User
from accounts.services import account_status
from tests.client import ApiClient
from tests.factories import PASSWORD, make_user, sign_in

AUTH = "/api/v1/auth"
PERSON = {
    "first_name": "Ann",
    "last_name": "Example",
    "email": "ann@example.com",
    "password": "correct horse 9",
    "language": "en",
}


def error(code, message, **more):
    return {"ok": False, "error": code, "message": message} | more


def without_request_id(body):
    assert re.fullmatch(r"[0-9a-f]{16}", body.pop("request_id"))
    return body


def mailed_code(mailoutbox, to):
    mail = next(mail for mail in reversed(mailoutbox) if mail.to == [to])
    return re.search(r"(?<!\d)\d{6,10}(?!\d)", mail.body)[0]


@pytest.fixture
def signed_up(anonymous, mailoutbox):
    """What was mailed to Ann, who has just signed up."""
    anonymous.post(f"{AUTH}/signup", PERSON, status=201)
    return mailed_code(mailoutbox, "ann@example.com")


INVALID_OTP = error("invalid_otp", "The code is wrong or has expired.")
INVALID_CREDENTIALS = error("invalid_credentials", "The e-mail address or the password is wrong.")
TOKEN_REVOKED = error("token_revoked", "This session has ended. Please sign in again.")
TOKEN_INVALID = error("token_invalid", "A valid token is required.")
ACCOUNT_BLOCKED = error("account_blocked", "This account is blocked.")


# --- signup ---------------------------------------------------------------------------------


def test_signup(anonymous, mailoutbox):
    body = anonymous.post(f"{AUTH}/signup", PERSON, status=201)
    assert body == {"ok": True, "message": "A confirmation code was sent to your e-mail address."}
    ann = User.objects.get()
    assert (ann.email, ann.first_name, ann.last_name, ann.language) == ("ann@example.com", "Ann", "Example", "en")
    assert re.fullmatch(r"ann_[a-z2-7]{5}", ann.username)
    assert not ann.has_verified_email
    assert ann.who_can_message == "everyone"
    assert len(mailoutbox) == 1
    assert re.fullmatch(r"\d{6}", mailed_code(mailoutbox, "ann@example.com"))


@pytest.mark.parametrize("address", ["ann@example.com", "ANN@Example.COM", " ann@example.com"])
@pytest.mark.parametrize("verified", [True, False])
def test_signup_with_a_registered_address(anonymous, address, verified):
    make_user("Ann", email="ann@example.com", verified=verified)
    body = anonymous.post(f"{AUTH}/signup", PERSON | {"email": address}, status=409)
    assert without_request_id(body) == error("email_taken", "This e-mail address is already registered.")
    assert User.objects.count() == 1


def test_international_domains_have_one_spelling(anonymous):
    anonymous.post(f"{AUTH}/signup", PERSON | {"email": "Ann@BÜCHER.example"}, status=201)
    for address in ("ann@xn--bcher-kva.example", "ANN@bücher.EXAMPLE", "ann@bu\u0308cher.example"):
        anonymous.post(f"{AUTH}/signup", PERSON | {"email": address}, status=409)


@pytest.mark.parametrize("domain", ["parley.test", "mail.local", "nowhere.invalid"])
def test_domains_for_special_use_are_domains(anonymous, domain):
    address = f"ann@{domain}"
    anonymous.post(f"{AUTH}/forgot-password", {"email": address}, status=200)
    assert anonymous.post(f"{AUTH}/signup", PERSON | {"email": address}, status=201)
    assert anonymous.post(f"{AUTH}/login", {"email": address, "password": "wrong"}, status=401)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"first_name": ""}, {"first_name"}),
        ({"first_name": " \u200b\t "}, {"first_name"}),
        ({"first_name": "x" * 51}, {"first_name"}),
        ({"first_name": None}, {"first_name"}),
        ({"first_name": 5}, {"first_name"}),
        ({"first_name": True}, {"first_name"}),
        ({"first_name": ["Ann"]}, {"first_name"}),
        ({"first_name": "A\x00nn"}, {"first_name"}),
        ({"last_name": "\ud800"}, {"last_name"}),
        ({"last_name": "x" * 51}, {"last_name"}),
        ({"email": "ann"}, {"email"}),
        ({"email": "ann@localhost"}, {"email"}),
        ({"email": "a b@example.com"}, {"email"}),
        ({"email": "ann@example.com\nBcc: x@example.com"}, {"email"}),
        ({"email": "Ann <ann@example.com>"}, {"email"}),
        ({"email": "x" * 60 + "@" + "y" * 190 + ".example.com"}, {"email"}),
        ({"email": 7}, {"email"}),
        ({"password": "short 7"}, {"password"}),
        ({"password": "x1" * 129}, {"password"}),
        ({"password": "password123"}, {"password"}),
        ({"password": "12345678"}, {"password"}),
        ({"password": "annexample"}, {"password"}),
        ({"password": 12345678}, {"password"}),
        ({"password": "correct\x00horse"}, {"password"}),
        ({"email": "nope", "password": ""}, {"email", "password"}),
    ],
)
def test_signup_names_what_is_wrong(anonymous, mailoutbox, changes, named):
    if changes.get("password") == "annexample":
        changes = changes | {"first_name": "Annexample"}
    body = anonymous.post(f"{AUTH}/signup", PERSON | changes, status=400)
    assert body["error"] == "validation_error"
    assert set(body["fields"]) == named
    assert all(isinstance(text, str) and text for texts in body["fields"].values() for text in texts)
    assert set(body) == {"ok", "error", "message", "fields", "request_id"}
    assert not User.objects.exists()
    assert not mailoutbox


@pytest.mark.parametrize("weak", ["short", "password123", "x" * 257])
def test_signup_names_a_weak_password_beside_another_field(anonymous, weak):
    body = anonymous.post(f"{AUTH}/signup", PERSON | {"first_name": "", "password": weak}, status=400)
    assert set(body["fields"]) == {"first_name", "password"}


def test_signup_names_every_missing_field(anonymous):
    body = anonymous.post(f"{AUTH}/signup", {}, status=400)
    assert set(body["fields"]) == {"first_name", "last_name", "email", "password"}


def test_passwords_are_neither_trimmed_nor_cut(anonymous):
    password = " ünïcode 9 " + "x" * 245
    assert len(password) == 256
    anonymous.post(f"{AUTH}/signup", PERSON | {"password": password}, status=201)
    anonymous.post(f"{AUTH}/login", {"email": PERSON["email"], "password": password})
    for other in (password.strip(), password[:-1], password + "x"):
        anonymous.post(
            f"{AUTH}/login", {"email": PERSON["email"], "password": other}, status=401 if len(other) <= 256 else 400
        )


def test_names_are_kept_as_text_on_one_line(anonymous):
    names = {"first_name": "  Ma\u0301ry \n\x07 Ann ", "last_name": "O’Hara \u202e<b>"}
    anonymous.post(f"{AUTH}/signup", PERSON | names, status=201)
    ann = User.objects.get()
    assert (ann.first_name, ann.last_name) == ("Máry Ann", "O’Hara <b>")


def test_unknown_fields_change_nothing(anonymous):
    sneaky = {"is_staff": True, "is_admin": True, "is_superuser": True, "email_verified_at": "2026-01-01T00:00:00Z",
              "username": "root", "id": 1, "is_verified": True}  # fmt: skip
    anonymous.post(f"{AUTH}/signup", PERSON | sneaky, status=201)
    ann = User.objects.get()
    assert not (ann.is_staff or ann.is_superuser or ann.has_verified_email)
    assert ann.username != "root"


@pytest.mark.parametrize(
    ("first_name", "begins"),
    [
        ("Иван", "ivan_"),
        ("Élodie", "elodie_"),
        ("Maximiliana Wilhelmina", "maximilianawilhe_"),
        ("李", "li_"),
        ("👍", "user_"),
        ("José María", "josemaria_"),
    ],
)
def test_usernames_come_from_the_first_name(anonymous, first_name, begins):
    anonymous.post(f"{AUTH}/signup", PERSON | {"first_name": first_name}, status=201)
    username = User.objects.get().username
    assert username.startswith(begins)
    assert len(username) == len(begins) + 5


@pytest.mark.parametrize(
    ("language", "kept"),
    [
        ("de", "de"), ("de-AT", "de"), ("DE", "de"), ("pt_BR", "pt"), ("zh", "zh-hans"), ("zh-Hant-TW", "zh-hans"),
        ("zh-Hans", "zh-hans"), ("ar-EG", "ar"), ("tlh", "en"), ("", "en"), (None, "en"), ("x" * 600, "en"),
        ("de\x00", "en"), (5, "en"), (["de"], "en"), ({"a": 1}, "en"),
    ],
)  # fmt: skip
def test_language_falls_back_and_is_never_an_error(anonymous, language, kept):
    anonymous.post(f"{AUTH}/signup", PERSON | {"language": language}, status=201)
    assert User.objects.get().language == kept


@pytest.mark.parametrize("language", ["en", "ru", "es", "de", "fr", "pt", "tr", "uk", "ar", "zh"])
def test_each_language_is_named_as_it_was_sent(alice, language):
    reply = ApiClient(sign_in(alice)[1]).raw("PATCH", "/api/v1/profile", {"language": language})
    assert reply.json()["profile"]["language"] == language
    assert ApiClient(sign_in(alice)[1]).raw("GET", "/api/v1/profile").headers["Content-Language"] == language


def test_what_is_wrong_with_a_signup_is_said_in_its_language(anonymous):
    wrong = PERSON | {"language": "de", "email": "ann"}
    assert anonymous.post(f"{AUTH}/signup", wrong, status=400)["message"] == "Einige Felder stimmen nicht."
    english = anonymous.post(f"{AUTH}/signup", wrong, status=400, headers={"Accept-Language": "en"})
    assert english["message"] == "Some fields are invalid."


def test_language_may_be_missing(anonymous):
    anonymous.post(f"{AUTH}/signup", {k: v for k, v in PERSON.items() if k != "language"}, status=201)
    assert User.objects.get().language == "en"


# --- verify ---------------------------------------------------------------------------------


def test_verify(anonymous, signed_up):
    body = anonymous.post(f"{AUTH}/verify", {"email": "Ann@example.com", "code": signed_up})
    ann = User.objects.get()
    assert body == {
        "ok": True,
        "token": body["token"],
        "expires_at": body["expires_at"],
        "user": {
            "id": ann.id,
            "username": ann.username,
            "email": "ann@example.com",
            "first_name": "Ann",
            "last_name": "Example",
            "is_verified": True,
        },
    }
    assert ApiClient(body["token"]).get(f"{AUTH}/me")["user"]["is_verified"] is True
    assert (
        without_request_id(
            anonymous.post(f"{AUTH}/verify", {"email": "ann@example.com", "code": signed_up}, status=400)
        )
        == INVALID_OTP
    )
    anonymous.post(f"{AUTH}/login", {"email": "ann@example.com", "password": PERSON["password"]})


def test_a_code_may_be_typed_in_groups(anonymous, signed_up):
    anonymous.post(f"{AUTH}/verify", {"email": "ann@example.com", "code": f" {signed_up[:3]} {signed_up[3:]} "})


def test_verify_with_what_is_no_code_of_this_address(anonymous, signed_up, clock):
    make_user("Bob", email="bob@example.com", verified=False)
    for email, code in [
        ("ann@example.com", "000000" if signed_up != "000000" else "111111"),
        ("ann@example.com", "abc"),
        ("bob@example.com", signed_up),
        ("nobody@example.com", signed_up),
    ]:
        assert (
            without_request_id(anonymous.post(f"{AUTH}/verify", {"email": email, "code": code}, status=400))
            == INVALID_OTP
        )
    clock.forward(minutes=10)
    assert (
        without_request_id(
            anonymous.post(f"{AUTH}/verify", {"email": "ann@example.com", "code": signed_up}, status=400)
        )
        == INVALID_OTP
    )


@pytest.mark.parametrize("code", [123456, None, "", "1" * 65, ["123456"], True])
def test_verify_wants_the_code_as_text(anonymous, signed_up, code):
    body = anonymous.post(f"{AUTH}/verify", {"email": "ann@example.com", "code": code}, status=400)
    assert (body["error"], set(body["fields"])) == ("validation_error", {"code"})


def test_the_sixth_try_is_not_looked_at(anonymous, signed_up):
    for n in range(5):
        wrong = f"{(int(signed_up) + n + 1) % 10**6:06d}"
        anonymous.post(f"{AUTH}/verify", {"email": "ann@example.com", "code": wrong}, status=400)
    anonymous.post(f"{AUTH}/verify", {"email": "ann@example.com", "code": signed_up}, status=400)


def test_a_blocked_account_gets_no_token_by_its_code(anonymous, signed_up):
    account_status.block(user=User.objects.get(), reason="spam", actor="test")
    body = anonymous.post(f"{AUTH}/verify", {"email": "ann@example.com", "code": signed_up}, status=403)
    assert without_request_id(body) == ACCOUNT_BLOCKED
    assert not Session.objects.exists()


# --- resend-otp and forgot-password ----------------------------------------------------------


def addresses():
    """An address of each account status, and an unknown one."""
    make_user("Ann", email="unconfirmed@example.com", verified=False)
    make_user("Ann", email="confirmed@example.com")
    make_user("Ann", email="blocked@example.com", blocked_at=timezone.now())
    return ["unconfirmed@example.com", "confirmed@example.com", "blocked@example.com", "nobody@example.com"]


def test_resend_otp_answers_all_addresses_alike(anonymous, mailoutbox):
    answers = [anonymous.post(f"{AUTH}/resend-otp", {"email": email}) for email in addresses()]
    message = "If this address needs confirming, we've sent a new code."
    assert answers == [{"ok": True, "message": message}] * 4
    assert [mail.to for mail in mailoutbox] == [["unconfirmed@example.com"]]


def test_forgot_password_answers_all_addresses_alike(anonymous, mailoutbox):
    answers = [anonymous.post(f"{AUTH}/forgot-password", {"email": email}) for email in addresses()]
    message = "If there is an account with this address, a code was sent to it."
    assert answers == [{"ok": True, "message": message}] * 4
    assert "nobody@example.com" not in {mail.to[0] for mail in mailoutbox}


def test_a_resent_code_replaces_the_one_before(anonymous, signed_up, mailoutbox):
    anonymous.post(f"{AUTH}/resend-otp", {"email": "ann@example.com"})
    second = mailed_code(mailoutbox, "ann@example.com")
    if second != signed_up:
        anonymous.post(f"{AUTH}/verify", {"email": "ann@example.com", "code": signed_up}, status=400)
    anonymous.post(f"{AUTH}/verify", {"email": "ann@example.com", "code": second})


# --- login ----------------------------------------------------------------------------------


def test_login(anonymous, alice):
    body = anonymous.post(f"{AUTH}/login", {"email": alice.email.upper(), "password": PASSWORD})
    assert body == {
        "ok": True,
        "token": body["token"],
        "expires_at": body["expires_at"],
        "user": {
            "id": alice.id,
            "username": alice.username,
            "email": alice.email,
            "first_name": "Alice",
            "last_name": "Archer",
            "is_verified": True,
        },
    }


def test_login_with_two_step(anonymous, alice):
    alice.second_password, alice.second_password_hint = "set", "the other one"
    alice.save()
    body = anonymous.post(f"{AUTH}/login", {"email": alice.email, "password": PASSWORD})
    token = body.pop("two_step_token")
    assert body == {"ok": True, "two_step_required": True, "hint": "the other one"}
    assert len(token) >= 43
    for path in ("me", "refresh"):
        method = "GET" if path == "me" else "POST"
        assert without_request_id(ApiClient(token).request(method, f"{AUTH}/{path}", None, 401)) == TOKEN_INVALID
    assert not Session.objects.exists()


def test_without_a_hint_the_hint_is_empty(anonymous, alice):
    User.objects.filter(id=alice.id).update(second_password="set")
    assert anonymous.post(f"{AUTH}/login", {"email": alice.email, "password": PASSWORD})["hint"] == ""


def test_a_wrong_password_and_an_unknown_address_read_the_same(anonymous, alice):
    for email in (alice.email, "nobody@example.com"):
        body = anonymous.post(f"{AUTH}/login", {"email": email, "password": "wrong"}, status=401)
        assert without_request_id(body) == INVALID_CREDENTIALS


def test_a_block_is_told_only_after_the_right_password(anonymous, alice):
    account_status.block(user=alice, reason="spam", actor="test")
    body = anonymous.post(f"{AUTH}/login", {"email": alice.email, "password": "wrong"}, status=401)
    assert without_request_id(body) == INVALID_CREDENTIALS
    body = anonymous.post(f"{AUTH}/login", {"email": alice.email, "password": PASSWORD}, status=403)
    assert without_request_id(body) == ACCOUNT_BLOCKED


def test_a_block_ends_by_itself(anonymous, alice, clock):
    account_status.block(user=alice, reason="spam", until=timezone.now() + timedelta(hours=1), actor="test")
    anonymous.post(f"{AUTH}/login", {"email": alice.email, "password": PASSWORD}, status=403)
    clock.forward(hours=1, seconds=1)
    anonymous.post(f"{AUTH}/login", {"email": alice.email, "password": PASSWORD})


@pytest.mark.parametrize("body", [{}, {"email": "ann@example.com"}, {"password": "x"}, {"email": "nope", "password": "x"},
                                  {"email": "ann@example.com", "password": 5}, {"email": "ann@example.com", "password": ""}])  # fmt: skip
def test_login_wants_both_fields_as_text(anonymous, body):
    assert anonymous.post(f"{AUTH}/login", body, status=400)["error"] == "validation_error"


# --- refresh, logout, me -----------------------------------------------------------------------


def test_refresh_logout_and_me(alice):
    client = ApiClient(sign_in(alice)[1])
    body = client.post(f"{AUTH}/refresh")
    assert body.keys() == {"ok", "token", "expires_at"}
    client = ApiClient(body["token"])
    me = client.get(f"{AUTH}/me")
    created_at = me["user"]["created_at"]
    assert me == {
        "ok": True,
        "user": {
            "id": alice.id,
            "username": alice.username,
            "email": alice.email,
            "first_name": "Alice",
            "last_name": "Archer",
            "is_verified": True,
            "bio": None,
            "avatar_url": None,
            "is_admin": False,
            "created_at": created_at,
        },
    }
    assert created_at.endswith("Z")
    assert datetime.fromisoformat(created_at) == alice.created_at
    assert client.post(f"{AUTH}/logout") == {"ok": True}
    for method, path in (("GET", "me"), ("POST", "refresh"), ("POST", "logout")):
        assert without_request_id(client.request(method, f"{AUTH}/{path}", None, 401)) == TOKEN_REVOKED


def test_logout_ends_one_sign_in_only(alice):
    one, other = (ApiClient(sign_in(alice)[1]) for _ in range(2))
    one.post(f"{AUTH}/logout")
    one.get(f"{AUTH}/me", status=401)
    other.get(f"{AUTH}/me")


def test_expired_revoked_blocked_and_missing_tokens(anonymous, alice, clock):
    for method, path in (("GET", "me"), ("POST", "refresh"), ("POST", "logout")):
        response = anonymous.raw(method, f"{AUTH}/{path}")
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
        assert without_request_id(response.json()) == TOKEN_INVALID
    client = ApiClient(sign_in(alice)[1])
    clock.forward(days=8)
    for method, path in (("GET", "me"), ("POST", "refresh"), ("POST", "logout")):
        body = client.request(method, f"{AUTH}/{path}", None, 401)
        assert without_request_id(body) == error("token_expired", "The token has expired. Please sign in again.")
    client = ApiClient(sign_in(alice)[1])
    account_status.block(user=alice, reason="spam", actor="test")
    for method, path in (("GET", "me"), ("POST", "refresh"), ("POST", "logout")):
        assert without_request_id(client.request(method, f"{AUTH}/{path}", None, 403)) == ACCOUNT_BLOCKED


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Bearer a b",
        "Token {token}",
        "{token}",
        "Bearer {token}x",
        "Bearer x{token}",
    ],
)
def test_odd_authorization_headers(alice, anonymous, header):
    token = sign_in(alice)[1]
    for method, path in (("GET", "me"), ("POST", "refresh")):
        response = anonymous.raw(method, f"{AUTH}/{path}", headers={"Authorization": header.format(token=token)})
        assert (response.status_code, response.json()["error"]) == (401, "token_invalid")


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer"])
def test_the_scheme_is_read_without_case(alice, anonymous, scheme):
    anonymous.get(f"{AUTH}/me", headers={"Authorization": f"{scheme} {sign_in(alice)[1]}"})


# --- verify-reset ------------------------------------------------------------------------------


def test_verify_reset(anonymous, alice, mailoutbox):
    client = ApiClient(sign_in(alice)[1])
    anonymous.post(f"{AUTH}/forgot-password", {"email": alice.email})
    code = mailed_code(mailoutbox, alice.email)
    new = {"email": alice.email, "code": code, "new_password": "another horse 9"}
    assert anonymous.post(f"{AUTH}/verify-reset", new) == {
        "ok": True,
        "message": "Your password was changed. Please sign in with it.",
    }
    assert without_request_id(client.get(f"{AUTH}/me", status=401)) == TOKEN_REVOKED
    anonymous.post(f"{AUTH}/login", {"email": alice.email, "password": PASSWORD}, status=401)
    anonymous.post(f"{AUTH}/login", {"email": alice.email, "password": "another horse 9"})
    assert without_request_id(anonymous.post(f"{AUTH}/verify-reset", new, status=400)) == INVALID_OTP
    assert mailoutbox[-1].subject in ("Your password was changed", "New sign-in to your account")


def test_verify_reset_with_a_weak_password_does_not_use_the_code_up(anonymous, alice, mailoutbox):
    anonymous.post(f"{AUTH}/forgot-password", {"email": alice.email})
    new = {"email": alice.email, "code": mailed_code(mailoutbox, alice.email)}
    for weak in ("short", "password123", "x" * 257):
        body = anonymous.post(f"{AUTH}/verify-reset", new | {"new_password": weak}, status=400)
        assert (body["error"], set(body["fields"])) == ("validation_error", {"new_password"})
    anonymous.post(f"{AUTH}/verify-reset", new | {"new_password": "another horse 9"})


def test_after_the_code_the_language_of_the_account_decides(anonymous, mailoutbox):
    olga = make_user("Olga", language="ru")
    anonymous.post(f"{AUTH}/forgot-password", {"email": olga.email})
    new = {"email": olga.email, "code": mailed_code(mailoutbox, olga.email), "new_password": "another horse 9"}
    wrong = anonymous.post(f"{AUTH}/verify-reset", new | {"code": "000000"}, status=400)
    assert without_request_id(wrong) == INVALID_OTP
    assert anonymous.post(f"{AUTH}/verify-reset", new)["message"].startswith("Ваш пароль")
    token = sign_in(olga)[1]
    account_status.block(user=olga, actor="test", reason="spam")
    right = {"email": olga.email, "password": "another horse 9"}
    wrong = anonymous.post(f"{AUTH}/login", right | {"password": "wrong"}, status=401)
    assert without_request_id(wrong) == INVALID_CREDENTIALS
    blocked = anonymous.post(f"{AUTH}/login", right, status=403)
    assert blocked["message"] == "Эта учётная запись заблокирована."
    assert without_request_id(ApiClient(token).get(f"{AUTH}/me", status=403)) == without_request_id(blocked)


def test_a_token_that_is_over_is_refused_in_the_language_of_its_account(anonymous):
    olga = make_user("Olga", language="ru")
    token = sign_in(olga)[1]
    over = ApiClient(token)
    over.post(f"{AUTH}/logout")
    replies = [over.get(f"{AUTH}/me", status=401), over.post(f"{AUTH}/refresh", status=401)]
    assert [reply["message"] for reply in replies] == ["Этот сеанс завершён. Войдите снова."] * 2
    english = over.get(f"{AUTH}/me", status=401, headers={"Accept-Language": "en"})
    assert english["message"] == "This session has ended. Please sign in again."


def test_verify_reset_without_an_account_or_with_a_code_of_another_purpose(anonymous, signed_up):
    for email in ("ann@example.com", "nobody@example.com"):
        new = {"email": email, "code": signed_up, "new_password": "another horse 9"}
        assert without_request_id(anonymous.post(f"{AUTH}/verify-reset", new, status=400)) == INVALID_OTP


# --- what every path has in common ---------------------------------------------------------------

POSTS = ["signup", "verify", "resend-otp", "login", "forgot-password", "verify-reset", "refresh", "logout"]


@pytest.mark.parametrize("path", POSTS)
def test_only_post_is_allowed(as_alice, path):
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        assert as_alice.request(method, f"{AUTH}/{path}", None, 405)["error"] == "method_not_allowed"


@pytest.mark.parametrize("path", POSTS[:6])
@pytest.mark.parametrize("body", [b"[]", b'"x"', b"1", b"{", b"\xff", b"{" * 100_000, b'{"email": NaN}', b"null"])
def test_what_is_no_json_object_is_a_parse_error(anonymous, path, body):
    assert anonymous.post(f"{AUTH}/{path}", body, status=400)["error"] == "parse_error"


@pytest.mark.parametrize("path", POSTS[:6])
def test_forms_are_not_taken(anonymous, path):
    body = anonymous.request("POST", f"{AUTH}/{path}", "email=a", 415, content_type="application/x-www-form-urlencoded")
    assert body["error"] == "unsupported_media_type"
