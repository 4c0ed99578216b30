"""Users get errors, mails and the texts of libraries in their language."""

import re
from importlib import import_module
from typing import Any

import pytest
from babel.core import Locale
from django.conf import settings
from django.core import mail
from django.core.management import CommandError, call_command
from django.utils import translation
from rest_framework.exceptions import APIException

from accounts import emails
from accounts.emails.texts import EMAIL_TEXTS
from messaging.text import too_long
from portal.client import translations
from tests.accounts.steps import last_code
from tests.client import ApiClient
from tests.factories import make_user, sign_in

pytestmark = pytest.mark.once

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != "en"]
# Code and endings of a link look alike everywhere.
FILLING = {
    "code": "123456",
    "device": "D-1",
    "address": "192.0.2.1",
    "time": "2026-11-20 12:00",
    "left": "3",
    "date": "2026-12-04",
    "link": "https://chat.example/undo",
}
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w+\}")


def error_classes() -> list[type[APIException]]:
    problems = []
    for app in ("core", "accounts", "messaging", "notifications", "realtime", "integrations"):
        module = import_module("core.api.exceptions" if app == "core" else f"{app}.exceptions")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, APIException) and value.__module__ == module.__name__:
                if "default_detail" in vars(value):
                    problems.append(value)
    return problems


def catalogs() -> list[Any]:
    return [pytest.param(path, id=f"{path.parts[-5]}-{path.parts[-3]}") for path in translations.po_files()]


def test_every_app_has_every_language_and_nothing_is_left_to_translate():
    # The web client has a catalog of its own beside that of config.
    assert len(list(translations.po_files())) == (len(translations.APPS) + 1) * len(translations.LOCALES)
    call_command("translations", check=True)
    assert {locale.lower().replace("_", "-") for locale in translations.LOCALES} == set(LANGUAGES)


def test_a_text_that_no_catalog_knows_is_told(monkeypatch):
    known = translations.collected

    def with_another(app):
        catalog = known(app)
        catalog.add("Nobody has translated this.")
        return catalog

    monkeypatch.setattr(translations, "collected", with_another)
    with pytest.raises(CommandError, match="Nobody has translated this"):
        call_command("translations", check=True)


def test_templates_are_collected_and_so_are_the_pages_of_staff():
    texts = translations.collected("accounts")
    assert texts.get("Hello %(name)s,") and texts.get("Return to the old address")
    assert texts.get("Sign out everywhere") and texts.get("What will happen")


@pytest.mark.parametrize("path", catalogs())
def test_placeholders_and_plural_forms_are_complete(path):
    catalog = translations.read(path)
    assert catalog.locale == Locale.parse(path.parts[-3])
    for message in catalog:
        if not message.id or not message.string:
            continue
        plural = isinstance(message.id, tuple)
        forms = message.string if isinstance(message.string, tuple) else (message.string,)
        placeholders = sorted(PLACEHOLDER.findall(message.id[1] if plural else message.id))
        if not any(forms):
            continue
        assert len(forms) == (catalog.num_plurals if plural else 1), message.id
        for form in forms:
            assert form and form == form.strip(), message.id
            got = sorted(PLACEHOLDER.findall(form))
            # "One message", "two messages": languages with words for few numbers need not write them as digits.
            may_say_it_in_words = plural and "%(" in message.id[1] and not got
            assert got == placeholders or may_say_it_in_words, (message.id, form)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_error_is_said_in_the_readers_language(language):
    assert len(error_classes()) > 25
    with translation.override("en"):
        english = {kind: str(kind.default_detail) for kind in error_classes()}
    with translation.override(language):
        same = [kind.__name__ for kind, text in english.items() if str(kind.default_detail) == text]
    assert same == []


@pytest.mark.parametrize("kind", sorted(EMAIL_TEXTS))
def test_a_mail_is_written_in_each_language(kind):
    def written(language: str) -> tuple[str, str, str]:
        sent = emails.render(kind, "ann@example.com", language, {"name": "Zoë", **FILLING})
        return str(sent.subject), str(sent.body), str(sent.alternatives[0][0])

    english = written("en")
    plain = [line for line in english[1].splitlines() if line.strip() and line not in {"-- ", "Parley"}]
    words = {line for line in plain if re.search(r"[A-Za-z]{3}", line) and not line.startswith("https://")}
    for language in LANGUAGES:
        subject, text, html = written(language)
        assert subject != english[0]
        assert not words & set(text.splitlines()), language
        for part in (subject, text, html):
            assert "%(" not in part and "{{" not in part and "%s" not in part
        assert all(value in text for value in FILLING.values() if value in english[1])
        assert ('dir="rtl"' in html.split("\n", 2)[1]) == (language == "ar")
        assert f'<html lang="{language}"' in html


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_error_body_follows_accept_language(db, language):
    def bodies(tag: str) -> list[str]:
        client = ApiClient()
        headers = {"Accept-Language": tag}
        wrong = client.post("/api/v1/auth/login", {"email": "a@example.com", "password": "x"}, 401, headers=headers)
        empty = client.post("/api/v1/auth/login", {}, 400, headers=headers)
        weak = {"first_name": "A", "last_name": "B", "email": "a@example.com", "password": "12345"}
        short = client.post("/api/v1/auth/signup", weak, 400, headers=headers)
        over = {"first_name": "A" * 51, "last_name": "\ud800", "email": "a@example.com", "password": "p" * 257}
        long = client.post("/api/v1/auth/signup", over, 400, headers=headers)
        return [
            wrong["message"],
            empty["message"],
            *(text for field in ("email", "password") for text in empty["fields"][field]),
            *short["fields"]["password"],
            *(text for field in ("first_name", "last_name", "password") for text in long["fields"][field]),
        ]

    # English first: what was said to one reader is not what the next one hears.
    english, ours = bodies("en"), bodies(language)
    assert len(ours) == len(english) > 7
    assert [text for text in ours if text in english] == []


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("ru", "ru"),
        ("de-AT", "de"),
        ("pt-BR", "pt"),
        ("zh", "zh-hans"),
        ("zh-CN", "zh-hans"),
        ("zh-TW", "zh-hans"),
        ("xx", "en"),
        ("xx, uk;q=0.5", "uk"),
        ("fr;q=0.3, es;q=0.8", "es"),
        ("de;q=0, xx", "en"),
        ("tr;q=0, fr;q=0.1", "fr"),
        ("de-AT" + ",sv;q=0.75" * 20, "de"),
        ("de-AT" + ",sv;q=0.75" * 90, "de"),
    ],
)
def test_accept_language_is_read_as_browsers_write_it(db, tag, language):
    with translation.override(language):
        expected = translation.gettext("A valid token is required.")
    body = ApiClient("nonsense").get("/api/v1/profile", 401, headers={"Accept-Language": tag})
    assert body["message"] == expected


def test_without_accept_language_the_account_decides(db):
    client = ApiClient(sign_in(make_user("Olga", language="ru"))[1])
    assert client.get("/api/v1/messages/conversations/999999", 404)["message"] == "Такой беседы не существует."
    german = client.get("/api/v1/messages/conversations/999999", 404, headers={"Accept-Language": "de"})
    assert german["message"] == "Dieses Gespräch gibt es nicht."
    for none_of_ours in ("xx", "*", "nonsense;;;q=z"):
        headers = {"Accept-Language": none_of_ours}
        body = client.get("/api/v1/messages/conversations/999999", 404, headers=headers)
        assert body["message"] == "Такой беседы не существует."


def test_a_reply_names_its_language_and_is_kept_by_no_cache(db):
    client = ApiClient(sign_in(make_user("Olga", language="ru"))[1])
    for headers, language in (({}, "ru"), ({"Accept-Language": "de-AT"}, "de")):
        reply = client.raw("GET", "/api/v1/profile", headers=headers)
        assert reply.headers["Content-Language"] == language
        assert "Accept-Language" in reply.headers["Vary"]
        assert reply.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("tag", "subject"),
    [
        ("de-AT", "Dein Bestätigungscode"),
        ("zh", "你的验证码"),
        ("zh-Hans-CN", "你的验证码"),
        ("ru", "Ваш код подтверждения"),
        ("xx", "Your confirmation code"),
        ("uk_UA", "Ваш код підтвердження"),
    ],
)
def test_a_new_account_is_written_to_in_its_language(db, tag, subject):
    person = {"first_name": "Ann", "last_name": "Lee", "email": "ann@example.com", "password": "violet lantern 42"}
    # The reply's language is the request's; the mail's is the account's.
    body = ApiClient().post("/api/v1/auth/signup", {**person, "language": tag}, 201, headers={"Accept-Language": "fr"})
    assert body["message"] == "Un code de confirmation a été envoyé à votre adresse e-mail."
    assert mail.outbox[-1].subject == subject
    assert last_code("ann@example.com") in mail.outbox[-1].body


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["This may have at most 1 character.", "This may have at most 5 characters."]),
        ("ru", ["Не более 1 символа.", "Не более 5 символов."]),
        ("pt", ["Pode ter no máximo 1 carácter.", "Pode ter no máximo 5 caracteres."]),
        ("ar", ["الحد الأقصى حرف واحد (1).", "الحد الأقصى 5 أحرف."]),
    ],
)
def test_numbers_in_errors_are_counted(language, expected):
    with translation.override(language):
        assert [too_long(number) for number in (1, 5)] == expected
        if language == "ar":
            assert too_long(40) == "الحد الأقصى 40 حرفًا."
            assert too_long(100) == "الحد الأقصى 100 حرف."
