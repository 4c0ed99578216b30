"""E-mail addresses as phones and pages give them: read as the one address, or refused; never a second account."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.exceptions import EmailTaken
from accounts.models import User
from core.addresses import normalise_address
from tests.accounts.steps import act, last_code
from tests.factories import PASSWORD, make_user
from tests.staff import admin_client, code_of, staff

AUTH = "/api/v1/auth"
PERSON = {"first_name": "Ann", "last_name": "Else", "password": "cobalt river 31"}
ANN = "ann@example.org"
INVISIBLE = [
    "\u00ad", "\u034f", "\u061c", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u180b", "\u180e", "\u200b", "\u200c", "\u200d",
    "\u200e", "\u200f", "\u202a", "\u202c", "\u202e", "\u2060", "\u2061", "\u2066", "\u2069", "\u206f", "\u3164", "\ufe0f",
    "\ufeff", "\uffa0", "\ufff9", "\U0001d173", "\U000e0001", "\U000e0020", "\U000e0061", "\U000e0100", "\x01", "\x7f",
]  # fmt: skip
# The same address, everywhere.
SAME = [
    *(f"{mark}ann@example.org" for mark in INVISIBLE),
    *(f"a{mark}nn@exam{mark}ple.org" for mark in INVISIBLE),
    *(f"ann@example.org{mark}" for mark in INVISIBLE),
    *(f"ann{mark}@{mark}example{mark}.{mark}org" for mark in INVISIBLE),
    "ann＠example.org",
    "ann﹫example.org",
    "ａｎｎ@example.org",
    "ＡＮＮ＠ＥＸＡＭＰＬＥ．ＯＲＧ",
    "ann@ｅｘａｍｐｌｅ.org",
    "ann@example。org",
    "ann@example｡org",
    "ann@example．org",
    "Ann@Example.Org",
    " ann@example.org\u00a0",
    "\u3000ann@example.org\u2003",
    "\u2068ann@example.org\u2069\n",
]
# Look like the address, or nearly so, and are none.
REFUSED = [
    "аnn@example.org",  # the first letter is Cyrillic
    "αnn@example.org",
    "𝐚nn@example.org",
    "ⓐnn@example.org",
    "ªnn@example.org",
    "ann @example.org",
    "ann@example org",
    "ann@@example.org",
    "ann@",
    "@example.org",
    "ann\0@example.org",
    "\u200b",
    "ann@example.org,bob@example.org",
    "оаерх@example.org",  # Cyrillic, all of it
    "ann@exаmple.org",
    "ann@аррӏе.com",
    "ann@exαmple.org",
    "ann\u2800@example.org",
    "ann\u0338@example.org",
    "an\u0336n@example.org",
    "ɑnn@example.org",
    "ann@ɡoogle.com",
    "ann\u02c8@example.org",
    "ʼann@example.org",
    "o’neill@example.org",
    "ann–else@example.org",
    "ann•@example.org",
    "ann\ue000@example.org",
    "ann\u0378@example.org",
    "ann☺@example.org",
    "bᴏb@example.org",  # small capitals
    "ann@ɢoogle.com",
    "ᴀɴɴ@example.org",
    "ꓮꓠꓠ@example.org",  # Lisu, all of it
    "ᎪᎡ@example.org",  # Cherokee
    "օոս@example.org",  # Armenian
    "bob٠@example.org",  # digits of other scripts
    "b০b@example.org",
    "००७@example.org",
    "annहिन्दी@example.org",
    "שalom@example.org",
    "ann@exa𐓪mple.org",
]
# Letters, digits and marks that Unicode lists as confusable with one of a to z or 0 to 9 (UTS #39), most of them not above.
CONFUSABLE = (
    "ဝ𐊂𐊆𐊇𐊊𐊐𐊒𐊕𐊖𐊗𐊠𐊡𐊢𐊥𐊫𐊰𐊱𐊲𐊴𐋏𐌁𐌂𐌉𐌑𐌕𐌗𐌚𐌠𐌢၀𐐄𐐕𐐛𐐠𐐬𐐽𐑈𐒴𐓂𐓎𐓒𐓪𐓶𐔓𐔖𐔘𐔜𐔝𐔥𐔦𐔧ყჿ𑓐𑜆𑜊𑜎𑜏𑢠𑢢𑢣𑢤𑢦𑢩𑢬𑢮𑢯𑢲𑢵𑢸𑢻𑢼𑣀𑣁𑣂𑣃𑣄𑣆𑣈𑣊𑣌𑣕𑣖𑣗𑣘"
    "𑣜𑣠𑣥𑣦𑣩𑣬𑣯𑣲ሀዐᐯᑊᑌᑭᑯᑲᒍᒪᒿᕁᕼᕽᖇᖯᖴᗅᗞᗪᗰᗷᚷᛁᛌᛕᛖ𖼈𖼊𖼖𖼨𖼵𖼺𖼻𖽀𖽂𖽃𖽑𖽒ƍƦƽᴄᴏᴑᴜᴠᴡᴢᶃᶌẝỿȢȣɪʏⴸⴹⵏⵔⵕⵝ〇۰۱۵۷०০৪৭੦੧੪ꛟꛯꜱꝚꝪꝮꞌꞘꞙꞟꞫꞲꞳꞴꬲꬵꬽꭇꭈꭎꭒꭚ"
    "૦ଃଠ୦୨௦ం౦ಂ೦ംഠ൦൭ං๐໐ɑɡοаеорсухіјѕһԁԛԝѵօոսհցꓮꓐꓚꓳꭺꮯꮪꮃϲϳסןهاᴦ"
)


@pytest.mark.once
@pytest.mark.parametrize("character", CONFUSABLE, ids=lambda character: f"U+{ord(character):04X}")
def test_a_look_alike_beside_ordinary_letters_makes_no_address(character):
    for typed in (f"a{character}nn@example.org", f"{character}nn@example.org", f"ann@ex{character}ample.org"):
        with pytest.raises(ValueError, match="not an address"):
            normalise_address(typed)


@pytest.mark.once
@pytest.mark.parametrize("typed", SAME)
def test_it_is_read_as_the_address(typed):
    assert normalise_address(typed) == ANN


@pytest.mark.once
@pytest.mark.parametrize("typed", REFUSED)
def test_it_is_no_address(typed):
    with pytest.raises(ValueError, match="not an address"):
        normalise_address(typed)


@pytest.mark.once
@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("Jürgen@example.org", "jürgen@example.org"),
        ("Ju\u0308rgen@example.org", "jürgen@example.org"),
        ("иван@пример.рф", "иван@xn--e1afmkfd.xn--p1ai"),
        ("太郎@例え.jp", "太郎@xn--r8jz45g.jp"),
        ("İlker@example.org", "ilker@example.org"),
        ("ann@Bücher.example", "ann@xn--bcher-kva.example"),
        ("ann@نامهای.com", "ann@xn--mgba3gch31f.com"),
        ("ışık@example.org", "ışık@example.org"),
        ("nguyễn.văn@example.org", "nguyễn.văn@example.org"),
        ("ŁUKASZ.ŻÓŁĆ@example.org", "łukasz.żółć@example.org"),
        ("tanaka太郎々ー@example.org", "tanaka太郎々ー@example.org"),
        ("kim철수1@example.org", "kim철수1@example.org"),
        ("राहुल.१२३@example.org", "राहुल.१२३@example.org"),
        ("علی۱۲۳@example.org", "علی۱۲۳@example.org"),
        ("१२३@उदाहरण.भारत", "१२३@xn--p1b6ci4b4b3a.xn--h2brj9c"),
        ("סוס@example.org", "סוס@example.org"),
        ("γιώργος@example.org", "γιώργος@example.org"),
        ("Юлія-2@example.org", "юлія-2@example.org"),
        ("მარიამ@example.org", "მარიამ@example.org"),
        ("ሰላም@example.org", "ሰላም@example.org"),
        ("မြန်မာ@example.org", "မြန်မာ@example.org"),
        ("ɔkɛ.ŋu@example.org", "ɔkɛ.ŋu@example.org"),
    ],
)
def test_addresses_of_other_letters_stay_what_they_are(typed, address):
    assert normalise_address(typed) == address


@pytest.mark.once
def test_a_domain_with_a_joiner_of_its_own_is_not_read_as_another_one():
    with pytest.raises(ValueError, match="not an address"):
        normalise_address("ann@نامه\u200cای.com")


SOME = [SAME[9], SAME[50], "\u3164ann＠example。org", "ＡＮＮ@ex\u034fample.org", "\u2068Ann@Example.Org\u2069\n"]


@pytest.mark.parametrize("typed", SOME)
def test_sign_up_makes_no_second_account(anonymous, typed):
    make_user("Ann", email=ANN)
    refused = anonymous.post(f"{AUTH}/signup", {**PERSON, "email": typed}, status=409)
    assert refused["error"] == "email_taken"
    assert User.objects.count() == 1


@pytest.mark.parametrize("typed", SOME)
def test_sign_up_and_confirm_with_it(anonymous, typed):
    anonymous.post(f"{AUTH}/signup", {**PERSON, "email": typed}, status=201)
    assert User.objects.get().email == ANN
    anonymous.post(f"{AUTH}/resend-otp", {"email": typed})
    anonymous.post(f"{AUTH}/verify", {"email": typed, "code": last_code(ANN)})


@pytest.mark.parametrize("path", ["signup", "login", "verify", "resend-otp", "forgot-password", "verify-reset"])
def test_what_is_no_address_is_refused_on_its_field(anonymous, db, path):
    for typed in (REFUSED[0], REFUSED[2], REFUSED[5], "\u200b"):
        body = {**PERSON, "email": typed, "code": "123456", "new_password": "cobalt river 31"}
        refused = anonymous.post(f"{AUTH}/{path}", body, status=400)
        assert refused["error"] == "validation_error" and set(refused["fields"]) == {"email"}
    assert not User.objects.exists()


def test_sign_in_with_it(anonymous, db):
    make_user("Ann", email=ANN)
    for typed in SOME:
        assert anonymous.post(f"{AUTH}/login", {"email": typed, "password": PASSWORD})["user"]["email"] == ANN


@pytest.mark.parametrize("typed", SOME)
def test_a_new_password_with_it(anonymous, typed):
    make_user("Ann", email=ANN)
    anonymous.post(f"{AUTH}/forgot-password", {"email": typed})
    body = {"email": typed, "code": last_code(ANN), "new_password": "cobalt river 31"}
    anonymous.post(f"{AUTH}/verify-reset", body)


@pytest.mark.parametrize("typed", SOME)
def test_a_new_address_is_read_like_this_too(alice, as_alice, typed):
    act(as_alice, alice, "change_email", "change-email", {"email": typed})
    moved = as_alice.post(f"{AUTH}/change-email/verify", {"code": last_code(ANN)})
    assert moved["email"] == ANN


@pytest.mark.parametrize("typed", SOME)
def test_a_new_address_is_never_another_account(alice, as_alice, typed):
    make_user("Ann", email=ANN)
    refused = act(as_alice, alice, "change_email", "change-email", {"email": typed}, status=409)
    assert refused["error"] == "email_taken"


@pytest.mark.parametrize("typed", SOME)
def test_sign_in_of_staff(db, typed):
    from django_otp.plugins.otp_totp.models import TOTPDevice

    device = TOTPDevice.objects.create(user=staff(email=ANN), confirmed=True, name="app")
    data = {"username": typed, "password": PASSWORD, "code": code_of(device)}
    assert Client().post("/admin/login/", data).status_code == 302


@pytest.mark.parametrize("typed", SOME)
def test_commands_and_the_search_of_staff(db, typed):
    ann = make_user("Zz", email=ANN)
    out = io.StringIO()
    call_command("show_user", typed, "--json", stdout=out)
    assert json.loads(out.getvalue())["user_id"] == ann.id
    page = admin_client(staff("Support")).get("/admin/accounts/user/", {"q": typed})
    assert ANN in page.content.decode()


def test_a_superuser_has_no_second_account_either(db):
    make_user("Ann", email=ANN)
    with pytest.raises((CommandError, EmailTaken)):
        call_command("createsuperuser", "--noinput", "--email", "\u200bann＠example.org", "--first_name", "Ann")
    assert User.objects.count() == 1


def test_the_rate_counts_all_spellings_as_one(anonymous):
    make_user("Ann", email=ANN)
    body = {"password": "wrong wrong"}
    statuses = [anonymous.raw("POST", f"{AUTH}/login", {"email": typed, **body}).status_code for typed in SOME * 2]
    assert statuses[:5].count(401) == 5 and set(statuses[5:]) == {429}
