"""Codes as people type and paste them: digits of every script, and what programs put inside and around."""

import sys
import unicodedata

import pytest
from django.test import Client
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import Code, OneTimeToken, User
from core.characters import read_code, read_printed_code
from tests.accounts.steps import act, enable_two_step, last_code, send_second_step
from tests.client import ApiClient
from tests.factories import PASSWORD, make_user
from tests.staff import code_of, staff

AUTH = "/api/v1/auth"
ZEROS = [
    chr(point)
    for point in range(sys.maxunicode + 1)
    if unicodedata.category(chr(point)) == "Nd" and unicodedata.decimal(chr(point)) == 0
]


def in_digits_from(zero):
    return lambda code: "".join(chr(ord(zero) + int(digit)) for digit in code)


def between(character):
    return character.join


def around(before, after):
    return lambda code: f"{before}{code}{after}"


FORMS = {
    "Arabic": in_digits_from("٠"),
    "Persian": in_digits_from("۰"),
    "full-width": in_digits_from("０"),
    "Devanagari": in_digits_from("०"),
    "Adlam": in_digits_from("𞥐"),
    "mathematical": in_digits_from("𝟎"),
    "embedded from left to right": around("\u202a", "\u202c"),
    "isolated": around("\u2068", "\u2069"),
    "marked from right to left": between("\u200f"),
    "zero-width spaces": between("\u200b"),
    "word joiners and soft hyphens": between("\u2060\u00ad"),
    "fillers of Hangul": between("\u3164"),
    "joiners of graphemes": between("\u034f"),
    "byte order mark": around("\ufeff", ""),
    "tags": around("\U000e0020", "\U000e007f"),
    "keycaps": between("\ufe0f\u20e3"),
    "dashes": between("–"),
    "minus signs": between("−"),
    "non-breaking hyphens": between("\u2011"),
    "dashes of a Japanese keyboard": between("ー"),
    "no-break spaces": between("\u00a0"),
    "ideographic spaces": between("\u3000"),
    "narrow spaces and lines": around("\u202f\n\t", "\r\n\u2028"),
    "quotes": around("“", "”"),
    "guillemets": around("« ", " »"),
    "corner brackets": around("「", "」"),
    "apostrophes": around("'", "’"),
    "grave accents": around("`", "`"),
    "stars": around("*", "*"),
    "a full stop": around("", "."),
    "an ideographic full stop": around("", "。"),
    "brackets": around("<(", ")>"),
    "groups": lambda code: f" {code[:3]} - {code[3:]} ",
    "Arabic within marks": lambda code: f"\u202b{in_digits_from('٠')(code)}\u202c",
}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
some_forms = pytest.mark.parametrize("form", list(FORMS.values())[::4], ids=list(FORMS)[::4])
NOT_CODES = ["", "48291a", "٤٨٢٩١x", "四八二九一三", "①②③④⑤⑥", "ⅣⅧⅡ", "½", "\u200b", "-", "48\x002913", "48\ud8002913"]


@pytest.mark.once
@pytest.mark.parametrize("zero", ZEROS)
def test_digits_of_every_script_are_digits(zero):
    assert read_code(in_digits_from(zero)("4829130576")) == "4829130576"


@pytest.mark.once
def test_the_scripts_are_those_of_unicode():
    assert len(ZEROS) >= 60


@pytest.mark.once
@forms
def test_what_stands_beside_the_digits_is_ignored(form):
    assert read_code(form("482913")) == "482913"
    assert len(form("4829130576")) <= 64


@pytest.mark.once
@pytest.mark.parametrize("text", NOT_CODES)
def test_anything_else_is_no_code(text):
    assert read_code(text) is None


@pytest.fixture
def no_try_used(alice):
    yield
    assert not Code.objects.filter(tries__gt=1).exists()
    assert set(User.objects.values_list("failed_codes", "wrong_second_passwords")) == {(0, 0)}


@some_forms
def test_confirming_the_address(anonymous, form, no_try_used):
    person = {"first_name": "Eve", "last_name": "Else", "email": "eve@example.com", "password": "cobalt river 31"}
    anonymous.post(f"{AUTH}/signup", person, status=201)
    body = {"email": "eve@example.com", "code": form(last_code("eve@example.com"))}
    assert anonymous.post(f"{AUTH}/verify", body)["user"]["is_verified"]


@some_forms
def test_a_new_password(alice, anonymous, form, no_try_used):
    anonymous.post(f"{AUTH}/forgot-password", {"email": alice.email})
    body = {"email": alice.email, "code": form(last_code(alice.email)), "new_password": "cobalt river 31"}
    anonymous.post(f"{AUTH}/verify-reset", body)
    anonymous.post(f"{AUTH}/login", {"email": alice.email, "password": "cobalt river 31"})


@some_forms
def test_an_action_and_a_new_address(alice, as_alice, form, no_try_used):
    challenge = as_alice.post(f"{AUTH}/action-challenge", {"action": "change_email"})["challenge_token"]
    body = {"challenge_token": challenge, "code": form(last_code(alice.email))}
    token = as_alice.post(f"{AUTH}/action-verify", body)["action_token"]
    headers = {"X-Action-Token": token}
    as_alice.post(f"{AUTH}/change-email", {"email": "new@example.org"}, headers=headers)
    moved = as_alice.post(f"{AUTH}/change-email/verify", {"code": form(last_code("new@example.org"))})
    assert moved["email"] == "new@example.org"


@some_forms
def test_the_mailed_second_step(alice, as_alice, form, no_try_used):
    enable_two_step(as_alice, alice)
    client = send_second_step(alice)
    client.post(f"{AUTH}/resend-two-step")
    assert "token" in client.post(f"{AUTH}/two-step", {"password": form(last_code(alice.email))})


@pytest.mark.parametrize(
    "password",
    ["1234 5678 90ab", "４８２９１３７５０", "٤٨٢٩١٣٧٥٠", "4829-1375-0", "482\u200b91375", "  48291375 ", "“violet”48"],
)
def test_a_second_password_is_never_rewritten(alice, as_alice, password):
    enable_two_step(as_alice, alice, password)
    rewritten = read_code(password) or password.strip()
    if rewritten != password:
        refused = send_second_step(alice).post(f"{AUTH}/two-step", {"password": rewritten}, status=401)
        assert refused["error"] == "invalid_two_step"
    assert "token" in send_second_step(alice).post(f"{AUTH}/two-step", {"password": password})
    headers = {"password": password}
    assert act(as_alice, alice, "two_step_disable", "two-step/disable", headers)["ok"]


RECOVERY_FORMS = {
    "lower case": str.lower,
    "full-width": lambda code: "".join(chr(ord(letter) + 0xFEE0) for letter in code),
    "dashes of a phone": lambda code: code.replace("-", "–"),
    "invisible characters": lambda code: "\u2068" + "\u200b".join(code) + "\u2069",
    "spaces and quotes": lambda code: f"“ {code.replace('-', chr(0xA0))} ”",
    "misread letters": lambda code: code.replace("0", "O").replace("1", "l"),
    "digits of a Persian keyboard": lambda code: "".join(
        chr(ord("۰") + int(letter)) if letter.isdigit() else letter for letter in code
    ),
}


@pytest.mark.parametrize("form", RECOVERY_FORMS.values(), ids=RECOVERY_FORMS)
def test_recovery_codes(alice, as_alice, form):
    code = enable_two_step(as_alice, alice)[0]
    client = send_second_step(alice)
    assert "token" in client.post(f"{AUTH}/two-step/forgot", {"recovery_code": form(code)})
    assert OneTimeToken.objects.get(kind="two_step").tries == 1


@pytest.mark.once
def test_a_letter_of_another_script_is_not_dropped_from_a_recovery_code():
    assert read_printed_code("ab-ж-c") == "ABЖC"


@some_forms
def test_codes_of_staff_members_apps(db, form):
    device = TOTPDevice.objects.create(user=staff(), confirmed=True, name="app")
    data = {"username": device.user.email, "password": PASSWORD, "code": form(code_of(device))}
    assert Client().post("/admin/login/", data).status_code == 302
    device.refresh_from_db()
    assert device.throttling_failure_count == 0


@pytest.mark.parametrize(
    "form", [str.upper, between("\u200b"), around("“", "”"), lambda code: f" {code[:4]}-{code[4:]}"]
)
def test_static_codes_of_staff(db, form):
    user = staff()
    TOTPDevice.objects.create(user=user, confirmed=True, name="app")
    StaticDevice.objects.create(user=user, name="static codes").token_set.create(token="mfzwizldmfzwizld")
    data = {"username": user.email, "password": PASSWORD, "code": form("mfzwizldmfzwizld")}
    assert Client().post("/admin/login/", data).status_code == 302


def test_a_wrong_code_in_other_digits_is_counted(alice, anonymous):
    anonymous.post(f"{AUTH}/forgot-password", {"email": alice.email})
    wrong = in_digits_from("٠")("000000" if last_code(alice.email) != "000000" else "111111")
    body = {"email": alice.email, "code": wrong, "new_password": "cobalt river 31"}
    assert anonymous.post(f"{AUTH}/verify-reset", body, status=400)["error"] == "invalid_otp"
    assert Code.objects.get().tries == 1


def test_two_people_sign_in_side_by_side(db):
    """A code in other digits does not confirm the address of another account."""
    for name in ("ann", "bea"):
        make_user(name, verified=False, email=f"{name}@example.com")
    ApiClient().post(f"{AUTH}/resend-otp", {"email": "ann@example.com"})
    code = in_digits_from("۰")(last_code("ann@example.com"))
    ApiClient().post(f"{AUTH}/verify", {"email": "bea@example.com", "code": code}, status=400)
    ApiClient().post(f"{AUTH}/verify", {"email": "ann@example.com", "code": code})
