"""Names of every script: as usernames, with something to see, without stacks of marks, and not the names of the service."""

import io
import re
import unicodedata

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command

from accounts.models import User
from accounts.text import is_reserved, new_username
from core.characters import clean_name, is_invisible

AUTH = "/api/v1/auth"
PROFILE = "/api/v1/profile"
PERSON = {"first_name": "Ann", "last_name": "Else", "email": "ann@example.org", "password": "cobalt river 31"}

USERNAMES = {
    "Łukasz": "lukasz", "Đức": "duc", "Ørjan": "orjan", "Þóra": "thora", "Weiß": "weiss", "Æsa": "aesa", "Œuvre": "oeuvre",
    "Иван": "ivan", "Юлія": "yuliya", "Ђорђе": "djordje", "Αλέξης": "alexis", "ქეთი": "keti", "Հայկ": "hayk",
    "太郎": "tailang", "さくら": "sakura", "サクラ": "sakura", "ｻｸﾗ": "sakura", "김철수": "gimcheolsu", "王小明": "wangxiaoming",
    "عمر": "mr", "שרה": "srh", "สมชาย": "smchay", "राहुल": "rahul", "বাংলা": "bamla",
    "Zoë": "zoe", "Zoe\u0308": "zoe", "Ñandú": "nandu", "Gülşah": "gulsah", "İbrahim": "ibrahim", "Işık": "isik", "Ħaġar": "hagar",
    "Ɗan": "dan", "Əli": "eli", "Nguyễn Văn": "nguyenvan", "O’Brien": "obrien", "Jean-Luc": "jeanluc", "Ａｎｎ": "ann",
    "Ann 👍": "ann", "👍": "user", "…": "user", "A\u0301\u0301\u0301nn": "ann", "Ann٣": "ann3",
    "Wolfeschlegelsteinhausen": "wolfeschlegelste",
    "Admin": "user", "ROOT": "user", "Suppοrt": "user", "Deleted": "user", "Parley": "user",
}  # fmt: skip

# Nothing of it is seen.
INVISIBLE = [
    "\u2800", "\U000e0020", "\U000e0041\U000e007f", "\u180b", "\u180e", "\u180f", "\u17b4", "\u17b5", "\U0001d173", "\ufff9",
    "\u2065", "\U000e0100", "\u3164", "\u115f", "\u1160", "\uffa0", "\u034f", "\u00ad", "\u200b", "\u200c\u200d", "\u2060",
    "\u2066\u2069", "\u202e", "\ufeff", "\ufe0f", "\u0301" * 50, "\u20dd", "\u0e49", "\u05b8", "\u0378", "\u00a0", "\u3000",
    "\u1680", "\u2028", "\u2029", "\u0085", "\x01\x7f", "\u061c", "\u206a", "\U0001bca0", "\U0001d159", "\ufffc", "\u0483",
    "\ufff0", "\U000e0fff", " \u2800 \u0301 ", "\u200b\u0336",
]  # fmt: skip
# Something of it is.
VISIBLE = [
    "⠓⠑⠇⠇⠕", "⠁", "👍", "👨‍👩‍👧", "❤️", "1️⃣", "🏴\U000e0067\U000e0062\U000e007f", "🇺🇦", "🫩", "\U0001fac8", "Æ", "李", "𰻝", "\U00031350",
    "·", "-", "'", "ʻ", "ー", "ः", "\ue000", "\uf8ff", "あ゙", "\u3164Ann", "\u2800⠁", "ᄀ", "།",
]  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize(("name", "base"), USERNAMES.items())
def test_usernames_are_readable(name, base):
    username = new_username(name)
    assert re.fullmatch(r"[a-z0-9]{1,16}_[a-z2-7]{5}", username)
    assert username[:-6] == base


@pytest.mark.parametrize("name", ["Łukasz", "太郎", "Weiß", "عمر", "👍"])
def test_the_account_gets_it(anonymous, db, name):
    anonymous.post(f"{AUTH}/signup", {**PERSON, "first_name": name}, status=201)
    assert re.fullmatch(rf"{USERNAMES[name]}_[a-z2-7]{{5}}", User.objects.get().username)


@pytest.mark.once
@pytest.mark.parametrize("text", INVISIBLE)
def test_nothing_is_seen(text):
    assert is_invisible(text) and clean_name(text) == ""


@pytest.mark.once
@pytest.mark.parametrize("text", VISIBLE)
def test_something_is_seen(text):
    assert not is_invisible(text) and clean_name(text)


def test_a_name_needs_something_to_see(as_alice):
    for text in INVISIBLE:
        refused = as_alice.patch(PROFILE, {"first_name": text, "last_name": f" {text}"}, status=400)
        assert refused["error"] == "validation_error" and set(refused["fields"]) == {"first_name", "last_name"}, ascii(
            text
        )


def test_sign_up_needs_names_to_see(anonymous, db):
    for text in INVISIBLE[::12]:
        refused = anonymous.post(f"{AUTH}/signup", {**PERSON, "first_name": text, "last_name": text}, status=400)
        assert set(refused["fields"]) == {"first_name", "last_name"}
    assert not User.objects.exists()


def test_names_with_something_to_see_are_stored(as_alice):
    for text in VISIBLE:
        assert as_alice.patch(PROFILE, {"first_name": text})["profile"]["first_name"] == clean_name(text)


def test_what_may_be_left_out_is_left_out(as_alice):
    for text in INVISIBLE:
        assert as_alice.patch(PROFILE, {"bio": text})["profile"]["bio"] == "", ascii(text)


@pytest.mark.parametrize("text", ["", "\u3164", None])
def test_a_superuser_has_a_name_to_see(db, text):
    with pytest.raises(ValidationError):
        User.objects.create_superuser("root@example.org", "cobalt river 31", first_name=text or "\u2800")
    assert not User.objects.exists()


@pytest.mark.parametrize("text", ["\u2800", "\u3164\u200b", " "])
def test_a_reason_is_something_to_see(alice, text):
    with pytest.raises(Exception, match="it is empty"):
        call_command("block_user", str(alice.id), "--reason", text, stdout=io.StringIO())


STACKS = [
    ("A" + "\u0301" * 50 + "nn", "Ánn"),
    ("Z" + "\u0351\u036b\u0343" * 10 + "oe", "Z\u0351\u036boe"),
    ("ก" + "\u0e49" * 50, "ก\u0e49"),
    ("ا" + "\u064b" * 20, "ا\u064b"),
    ("и" + "\u0306" * 9 + "\u0483" * 9, "й\u0483"),
    ("x" + "\u20dd\u20de\u20df", "x\u20dd\u20de"),
    # What belongs to a language stays.
    ("Nguyễn", "Nguyễn"),
    ("Te\u0328\u0301", "Tę\u0301"),
    ("שָׁלוֹם", "שָׁלוֹם"),
    ("ผู้ใหญ่", "ผู้ใหญ่"),
    ("ကျွန်ုပ်", "ကျွန်ုပ်"),
    ("བརྒྱུད", "བརྒྱུད"),
    ("हिन्दी", "हिन्दी"),
    ("ង៉ែត", "ង៉ែត"),
    ("👨‍👩‍👧", "👨‍👩‍👧"),
    ("葛\U000e0100城", "葛\U000e0100城"),
    ("علی‌رضا", "علی‌رضا"),
    ("ශ්‍රී", "ශ්‍රී"),
    # What nothing is drawn for goes.
    ("A\u3164n\u034fn\u202e", "Ann"),
]


@pytest.mark.once
@pytest.mark.parametrize(("typed", "stored"), STACKS)
def test_marks_are_not_stacked(typed, stored):
    assert clean_name(typed) == unicodedata.normalize("NFC", stored)


RESERVED = [
    "admin", "Admin", "ADMIN_", "_admin", "admin_", "parley_support", "support_parley", "the_official_ann", "help_me", "Staff_1",
    "adm1n", "4dmin", "admln", "r00t", "5upport", "supp0rt_team", "0fficial", "rnoderator", "ad_min", "a_d_m_i_n",
    "moderator_x", "administrator_2", "parley", "PARLEY_", "par1ey", "deleted_5", "de1eted_x",
]  # fmt: skip
FREE = [
    "ann",
    "administer",
    "supporter",
    "helpful",
    "rooted",
    "staffordshire",
    "undeleted",
    "my_parleys",
    "badmin",
    "h_e",
    "___",
    "123",
]


def test_names_of_the_service_are_reserved(as_alice):
    for username in RESERVED:
        refused = as_alice.patch(PROFILE, {"username": username}, status=400)
        assert refused["fields"] == {"username": ["This username is reserved."]}, username


def test_other_usernames_are_free(as_alice, alice):
    for username in FREE:
        User.objects.update(username_changed_at=None)
        assert as_alice.patch(PROFILE, {"username": username})["profile"]["username"] == username


def test_letters_of_other_scripts_make_no_username(as_alice):
    for username in ("аdmin", "ａｄｍｉｎ", "admin\u200b", "sυpport", "ａnn"):
        assert set(as_alice.patch(PROFILE, {"username": username}, status=400)["fields"]) == {"username"}


@pytest.mark.once
def test_a_new_account_gets_no_reserved_name():
    for name in ("Admin", "ADMIN", "Аdmin", "Support", "Parley", "Root", "Deleted", "Adm1n"):
        assert not is_reserved(new_username(name)), name


def test_marks_are_taken_away_before_the_length_is_measured(as_alice):
    assert as_alice.patch(PROFILE, {"first_name": "A" + "\u0301" * 60})["profile"]["first_name"] == "Á"
