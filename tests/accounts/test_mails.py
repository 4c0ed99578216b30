"""What account mails say, in which language, to whom."""

import re

import pytest
from django.core import mail

from accounts import emails
from accounts.emails.texts import EMAIL_TEXTS
from accounts.services import export
from tests.client import ApiClient
from tests.contract.test_signing_in import AUTH, PERSON
from tests.factories import PASSWORD

FILLING = {
    "name": "Ann",
    "code": "123456",
    "device": "Firefox on Linux",
    "address": "192.0.2.1",
    "time": "2026-11-20 12:00",
}


@pytest.mark.once
@pytest.mark.parametrize("kind", sorted(EMAIL_TEXTS))
@pytest.mark.parametrize("language", ["en", "de", "ar", "zh-hans"])
def test_every_mail_is_written_in_every_language(kind, language):
    template = EMAIL_TEXTS[kind]
    placeholders = set(
        re.findall(r"%\((\w+)\)s", " ".join(map(str, (template.subject, *template.before, *template.after))))
    )
    emails.render(
        kind,
        "ann@example.com",
        language,
        {name: f"value of {name}" for name in placeholders} | {"name": "Ann", "code": "123456"},
    ).send()
    sent = mail.outbox[-1]
    html = sent.alternatives[0][0]
    assert sent.subject and "\n" not in sent.subject
    for text in (sent.body, html):
        assert "Ann" in text and "123456" in text
        assert "%(" not in text
        assert all(f"value of {name}" in text + sent.subject for name in placeholders)
    assert f'dir="{"rtl" if language == "ar" else "ltr"}"' in html
    assert f'lang="{language}"' in html
    # A phone makes no telephone number of a code.
    assert re.search(r'<meta name="format-detection" content="telephone=no\b[^"]*">', html)


@pytest.mark.once
def test_code_mails_are_told_apart_in_a_thread():
    for _ in range(3):
        emails.render("signup_code", "ann@example.com", "en", {"code": "123456"}).send()
    assert len({sent.message()["X-Entity-Ref-ID"] for sent in mail.outbox} - {None, ""}) == 3


def test_codes_hurry_and_expire():
    emails.render("signup_code", "ann@example.com", "en", {"code": "123456"}).send()
    emails.render("password_changed", "ann@example.com", "en").send()
    first, second = (dict(sent.extra_headers) for sent in mail.outbox)
    assert (first["X-Delivery-Priority"], first["X-Delivery-Expires-In"]) == ("code", "600")
    assert "X-Delivery-Priority" not in second


@pytest.mark.parametrize(
    ("name", "greeted"),
    [
        ("Ann", "Hello Ann,"),
        ("Ann-Marie O’Hara", "Hello Ann-Marie O’Hara,"),
        ("李小龍", "Hello 李小龍,"),
        ("Win at http://evil.example/x?y now", "Hello Win at now,"),
        ("www.evil.example", "Hello,"),
        ("evil.com", "Hello,"),
        ("Buy at EVIL.CO.UK/now", "Hello Buy at,"),
        ("me@evil.example", "Hello,"),
        ("Pay evil。com/pay now", "Hello Pay now,"),
        ("evil．com", "Hello,"),
        ("evil․com", "Hello,"),
        ("evil｡com", "Hello,"),
        ("evil۔com", "Hello,"),
        ("ｅｖｉｌ．ｃｏｍ", "Hello,"),
        ("evil[.]com evil(dot)com", "Hello,"),
        ("ev\u00adil.c\u200dom", "Hello,"),
        ("see:evil.com", "Hello,"),
        ("пример.рф xn--e1afmkfd.xn--p1ai", "Hello,"),
        ("1.2.3.4/pay", "Hello,"),
        ("[2001:db8::1]/pay", "Hello,"),
        ("evil.भारत evil.বাংলা", "Hello,"),
        ("evil.c\u206aom evil\u206a.com", "Hello,"),
        ("e\u0332v\u0332i\u0332l.\u0332c\u0332om", "Hello,"),
        ("Call +1 900 555-0199 now", "Hello Call now,"),
        ("Code １２３４５６", "Hello Code,"),
        ("Ann 3rd of 1984", "Hello Ann 3rd of 1984,"),
        ("José दीपिका", "Hello José दीपिका,"),
        ("hxxp:evil", "Hello,"),
        ("hxxps://evil", "Hello,"),
        ("ｈｔｔｐ：／／evil", "Hello,"),
        ("//evil/pay", "Hello,"),
        ("mailto:evil", "Hello,"),
        ("me＠evil", "Hello,"),
        ("J. R. R. Tolkien", "Hello J. R. R. Tolkien,"),
        ("J.R.R. Ann", "Hello J.R.R. Ann,"),
        ("Marc-André d’Été", "Hello Marc-André d’Été,"),
        ("Ann\r\nBcc: x", "Hello Ann Bcc: x,"),
        ("\u202eAnn\u2066", "Hello Ann,"),
        ("", "Hello,"),
        ("x" * 90, f"Hello {'x' * 50},"),
    ],
)
def test_a_name_greets_and_does_not_advertise(name, greeted):
    emails.render("password_changed", "ann@example.com", "en", {"name": name}).send()
    assert mail.outbox[-1].body.splitlines()[0] == greeted


def test_html_is_escaped():
    emails.render(
        "new_sign_in", "ann@example.com", "en", FILLING | {"name": "<b>A</b>", "device": "<img src=x>"}
    ).send()
    html = mail.outbox[-1].alternatives[0][0]
    assert "<b>A" not in html and "<img" not in html
    assert "&lt;b&gt;A" in html and "&lt;img" in html


def test_the_product_has_the_name_of_the_setting(settings):
    settings.PRODUCT_NAME = "Harbour & Co"
    emails.render("signup_code", "ann@example.com", "en", {"code": "123456", "name": "Ann"}).send()
    sent = mail.outbox[-1]
    assert sent.body.splitlines()[-1] == "Harbour & Co"
    assert "Harbour &amp; Co" in sent.alternatives[0][0]
    assert export.file_name("ann", "2026-11-23") == "harbour-co-ann-2026-11-23.zip"


def test_the_code_is_the_only_long_number_of_a_mail():
    emails.render("signup_code", "ann@example.com", "en", {"code": "123456", "name": "Ann"}).send()
    sent = mail.outbox[-1]
    for text in (sent.body, sent.alternatives[0][0], sent.subject):
        assert set(re.findall(r"(?<!\d)\d{6,10}(?!\d)", text)) <= {"123456"}


# --- sign-ins from elsewhere ---------------------------------------------------------------------


def login(user, agent="Phone/1", address="192.0.2.1", **headers):
    client = ApiClient(None, **{"User-Agent": agent, "X-Forwarded-For": address} | headers)
    return client.post(f"{AUTH}/login", {"email": user.email, "password": PASSWORD})


def test_a_sign_in_from_a_new_device_or_network_is_announced(alice, settings):
    settings.CORE_TRUSTED_PROXIES = 1
    login(alice)
    assert len(mail.outbox) == 1
    mail.outbox.clear()
    login(alice)
    assert not mail.outbox
    for news in ({"agent": "Laptop/1"}, {"address": "192.0.2.2"}, {"agent": "Laptop/1", "address": "2001:db8::1"}):
        login(alice, **news)
        assert [sent.to for sent in mail.outbox] == [[alice.email]]
        assert mail.outbox[-1].subject == "New sign-in to your account"
        login(alice, **news)
        assert len(mail.outbox) == 1
        mail.outbox.clear()
    login(alice, agent="Laptop/1", address="2001:db8::2")
    assert not mail.outbox


def test_the_announcement_names_device_address_and_time(alice, settings):
    settings.CORE_TRUSTED_PROXIES = 1
    login(alice)
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    login(alice, agent=firefox, address="2001:db8::1")
    assert "Device: Firefox on Linux" in mail.outbox[-1].body
    assert "Address: 2001:db8::1" in mail.outbox[-1].body
    login(alice, agent="x", **{"X-Device-Name": "see http://evil.example"})
    assert "evil" not in mail.outbox[-1].body


def test_the_first_sign_in_is_not_announced(anonymous):
    anonymous.post(f"{AUTH}/signup", PERSON, status=201)
    mail.outbox.clear()
    ann = {"email": PERSON["email"], "password": PERSON["password"]}
    anonymous.post(f"{AUTH}/login", ann)
    assert not mail.outbox


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0",
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19 Safari/604",
            "Safari on iPhone",
        ),
        ("Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/140 Mobile Safari/537.36", "Chrome on Android"),
        ("okhttp/5.0", "okhttp"),
        ("", ""),
    ],
)
def test_devices_have_names(agent, name):
    from accounts.client import device_name

    assert device_name(agent) == name
