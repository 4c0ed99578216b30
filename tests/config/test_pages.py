"""HTML pages: reachable, clean under the content policy; development pages are open to loopback only."""

import re
import uuid
from email.message import EmailMessage
from pathlib import Path

import pytest
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.filebased import EmailBackend
from django.test import Client
from django.utils.translation import trans_real
from drf_spectacular.generators import SchemaGenerator

from portal.development import mailbox
from portal.docs import contents, reference, search
from portal.docs.openapi import errors

OPEN_PAGES = ["/docs", "/docs/search?q=code", "/docs/reference/messages_send"] + [
    page.address for page in contents.pages()
]
DEVELOPER_PAGES = ["/dev/mail/", "/dev/mail.json", "/dev/push/", "/dev/push.json"]
CONTRACT_CODES = {
    "email_taken", "invalid_credentials", "account_locked", "account_blocked", "email_not_verified", "invalid_otp",
    "invalid_two_step", "token_expired", "token_revoked", "conversation_not_found", "message_not_found",
    "not_message_owner", "user_blocked", "message_permission_denied",
}  # fmt: skip

FORWARDED = (
    "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Server", "Forwarded", "Via",
    "X-Real-IP", "CF-Connecting-IP", "CF-Ray", "True-Client-IP", "X-Client-IP", "Fastly-Client-IP", "Fly-Client-IP",
    "X-Originating-IP", "X-Scheme", "X-Request-Start", "X-Amz-Cf-Id", "X-Cloud-Trace-Context", "X-Of-A-Proxy-To-Come",
    "DO-Connecting-IP", "Ali-CDN-Real-IP", "Front-End-Https", "Forwarded-For", "Ngrok-Trace-Id", "Tailscale-User-Login",
)  # fmt: skip


@pytest.fixture
def browser(settings):
    settings.DEBUG = True
    return Client()


@pytest.mark.parametrize("path", ["/docs/reference/nonsense", "/docs/nonsense", "/nonsense"])
@pytest.mark.parametrize("debug", [True, False])
def test_a_page_that_is_not_there(browser, settings, path, debug):
    settings.DEBUG = debug
    missing = browser.get(path, headers={"accept": "text/html"})
    assert (missing.status_code, missing["Content-Type"]) == (404, "text/html; charset=utf-8")
    directives = missing["Content-Security-Policy"].split("; ")
    assert "default-src 'self'" in directives and directives == sorted(directives)
    assert browser.get(path, headers={"accept": "application/json"}).json()["error"] == "not_found"


@pytest.mark.once
@pytest.mark.parametrize("path", OPEN_PAGES)
def test_a_page_needs_nothing_that_its_policy_forbids(browser, path):
    response = browser.get(path)
    assert response.status_code == 200
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy and policy.split("; ") == sorted(policy.split("; "))
    assert "unsafe" not in policy
    # The examples of guides are text.
    html = re.sub(r"<pre.*?</pre>", "", response.content.decode(), flags=re.DOTALL)
    assert not re.search(r"<script(?![^>]*\b(?:src|nonce)=)", html)
    assert not re.search(r"<style|\sstyle=|\son\w+=", html)
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", html)


@pytest.mark.parametrize("path", ["/", "/docs/quickstart", "/dev/mail/", "/admin/login/", "/nonsense"])
def test_every_page_has_the_whole_policy_with_a_nonce_of_its_own(browser, path):
    policies = [browser.get(path, headers={"accept": "text/html"}).headers["Content-Security-Policy"] for _ in "ab"]
    nonces = [re.search(r"script-src 'self' 'nonce-([^']{24})'", policy)[1] for policy in policies]
    assert nonces[0] != nonces[1]


@pytest.mark.parametrize(
    ("path", "status"),
    [("/docs", 301), ("/healthz", 200), ("/api/v1/auth/me", 401), ("/api/v1/media/x", 404)]
    + [(path, 404) for path in DEVELOPER_PAGES],
)
def test_only_pages_lead_to_https(settings, db, path, status):
    settings.SECURE_SSL_REDIRECT = True
    assert Client().get(path).status_code == status


@pytest.mark.parametrize("path", DEVELOPER_PAGES)
def test_developer_pages_are_for_the_person_at_this_machine(browser, settings, path):
    assert browser.get(path).status_code == 200
    assert browser.get(path, REMOTE_ADDR="::ffff:127.0.0.1").status_code == 200
    assert browser.get(path, REMOTE_ADDR="192.0.2.7").status_code == 404
    for name in FORWARDED:
        assert browser.get(path, headers={name: "192.0.2.7"}).status_code == 404, name
    assert browser.get(path, headers={"X-Request-Id": "1", "Referer": "http://127.0.0.1/"}).status_code == 200
    settings.DEBUG = False
    assert browser.get(path).status_code == 404


def test_every_operation_has_a_page_of_its_own(browser):
    index = browser.get("/docs/reference").content.decode()
    assert len(reference.operations()) > 20
    for name, operation in reference.operations().items():
        assert f'href="/docs/reference/{name}"' in index
        html = browser.get(f"/docs/reference/{name}").content.decode()
        assert f"{operation.method} {operation.path}" in html
    assert "conversation_id" in browser.get("/docs/reference/messages_send").content.decode()
    assert browser.get("/docs/reference/nothing").status_code == 404


def test_an_operation_shows_its_two_statuses_once_with_an_anchor_per_field(browser):
    html = browser.get("/docs/reference/messages_send").content.decode()
    assert "Response 200 or 201" in html and "Response 201<" not in html
    assert 'id="response-200-or-201.message.reply_to.id"' in html and 'href="#request.client_id"' in html
    body = html.partition("Response 200:")[2]
    assert body.index("&quot;ok&quot;") < body.index("&quot;message&quot;") < body.index("&quot;id&quot;")


@pytest.mark.parametrize(
    ("operation", "rates"),
    [
        ("auth_login", "30 a minute per network, 5 a minute per network and email"),
        ("messages_send", "20 in 5 seconds per user, 60 a minute per user"),
        ("messages_report", "20 an hour per user"),
        ("auth_me", None),
    ],
)
def test_an_operation_says_how_often_it_may_be_called(browser, operation, rates):
    html = browser.get(f"/docs/reference/{operation}").content.decode()
    assert (f"Rate limit</a>: {rates}." in html) if rates else "Rate limit</a>" not in html


@pytest.mark.parametrize(
    ("path", "before", "after", "anchor"),
    [
        ("/docs/paging", "/docs/uploads", "/docs/idempotency", ""),
        ("/docs/realtime", "/docs/reference", "/docs/errors", "close-codes"),
        ("/docs/errors", "/docs/realtime", "/api/docs", "status-409"),
        ("/docs/reference", "/docs/moving", "/docs/realtime", "auth"),
        ("/docs/reference/messages_send", "/docs/reference/messages_list", "/docs/reference/messages_send_image", ""),
    ],
)
def test_a_page_leads_to_the_one_before_the_one_after_and_its_parts(browser, path, before, after, anchor):
    html = browser.get(path).content.decode()
    assert f'href="{before}" rel="prev"' in html
    assert re.search(rf'href="{after}" rel="next"', html)
    headings = re.findall(r'href="#([^"]+)"', html.partition('aria-label="On this page"')[2].partition("</nav>")[0])
    assert all(f'id="{name}"' in html for name in headings)
    assert not anchor or anchor in headings


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("presence.watch", "presence.watch"),
        ("4403", "4403"),
        ("websocket", "WebSocket API"),
        ("2fa", "Two-step verification"),
        ("pagination cursor", "Pagination"),
        ("message.new", "message.new"),
        ("paging", "Pagination"),
        ("logout", "Sign out"),
        ("read receipts", "Mark a conversation read"),
        # No entry has both words.
        ("typing indicator", "typing"),
    ],
)
def test_the_search_knows_the_socket_and_the_words_of_other_services(browser, query, title):
    assert title in [hit["title"] for hit in search.search(query)][:5]


def test_the_search_finds_nothing_for_words_that_no_page_has(browser):
    assert search.search("xylophone zzyzx") == []


def test_an_example_is_a_page_and_nothing_else_is(browser):
    for name in contents.examples():
        assert browser.get(f"/docs/examples/{name}").status_code == 200
    assert "websocket" in browser.get("/docs/examples/socket_client.py").content.decode()
    for name in ("nothing.py", "..%2Fopenapi.json", "__pycache__"):
        assert browser.get(f"/docs/examples/{name}").status_code == 404


def test_the_search_marks_words_and_escapes_the_rest(browser):
    assert search.marked("a <b> Code", "code b") == "a &lt;<mark>b</mark>&gt; <mark>Code</mark>"
    assert search.marked("a <b>", "") == "a &lt;b&gt;"
    assert "<mark>token</mark>" in browser.get("/docs/search", {"q": "token"}).content.decode()


def test_demo_passwords_are_not_shown_to_other_computers(browser, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    (tmp_path / "demo.json").write_text(
        '[{"title": "Alice", "email": "alice@example.com", "password": "a secret", "purpose": "talks"}]'
    )
    assert b"a secret" in browser.get("/").content
    assert b"a secret" not in browser.get("/", REMOTE_ADDR="192.0.2.7").content


def test_the_mailbox_shows_codes_newest_first_and_by_address(browser, settings, tmp_path):
    settings.MAILBOX_DIR = tmp_path
    backend = EmailBackend(file_path=str(tmp_path))
    for number, address in enumerate(["ann@example.com", "ben@example.com", "ann@example.com"]):
        text = f"Hello,\n\nyour code is {100000 + number}.\n{'-' * 30}\nBye"
        mail = EmailMultiAlternatives(f"Mail {number}", text, "from@example.com", [f"Someone <{address}>"])
        mail.attach_alternative(f"<p>{100000 + number}</p>", "text/html")
        backend.send_messages([mail])
    all_mails = browser.get("/dev/mail.json").json()["mails"]
    ann = browser.get("/dev/mail.json?to=ANN@example.com").json()["mails"]
    assert [mail["code"] for mail in all_mails] == ["100002", "100001", "100000"]
    assert [mail["subject"] for mail in ann] == ["Mail 2", "Mail 0"]
    assert all(mail["created_at"].endswith(".000000Z") for mail in ann)  # a mail is dated to the second
    assert "100002" in browser.get("/dev/mail/?to=ann@example.com").content.decode()


def test_the_mailbox_is_newest_first_over_the_files_of_several_threads(settings, tmp_path):
    settings.MAILBOX_DIR = tmp_path
    backends = [EmailBackend(file_path=str(tmp_path)), EmailBackend(file_path=str(tmp_path))]
    for number in range(6):
        # As long as those of the queue: it is folded onto a line of its own.
        message_id = f"<{number:017}.{uuid.uuid4().hex}@chat.example.com>"
        headers = {"Message-ID": message_id, "Date": "Fri, 20 Nov 2026 12:00:00 -0000"}
        mail = EmailMultiAlternatives(
            f"Mail {number}", "Hello", "from@example.com", ["ann@example.com"], headers=headers
        )
        backends[number % 2].send_messages([mail])
    assert [mail.subject for mail in mailbox.mails()] == [f"Mail {number}" for number in (5, 4, 3, 2, 1, 0)]


def test_a_mail_that_is_still_being_written_is_not_there_yet(settings, tmp_path):
    settings.MAILBOX_DIR = tmp_path
    mail = EmailMultiAlternatives("Code", "Your code is 123456.", "from@example.com", ["ann@example.com"])
    mail.attach_alternative("<p>Your code is 123456.</p>", "text/html")
    EmailBackend(file_path=str(tmp_path)).send_messages([mail])
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for half in (whole[: whole.index(b"Your code")], whole[: whole.index(b"text/html")]):
        path.write_bytes(whole + half)
        assert [mail.code for mail in mailbox.mails()] == ["123456"]


def test_a_mail_in_another_script_is_readable(settings, tmp_path):
    settings.MAILBOX_DIR = tmp_path
    message = EmailMessage()
    message["To"], message["Subject"] = "анна@пример.рф", "Ваш код"
    message.set_content("Ваш код: 48291300")
    (tmp_path / "one.log").write_bytes(message.as_bytes())
    mail = mailbox.mails()[0]
    assert (mail.subject, mail.code) == ("Ваш код", "48291300")


def test_the_push_outbox_skips_what_is_still_being_written(browser, settings, tmp_path):
    settings.NOTIFICATIONS_PUSH_OUTBOX = tmp_path
    (tmp_path / "outbox.jsonl").write_text('{"data": {"type": "message"}}\n{"data": {"ty')
    assert browser.get("/dev/push.json").json()["pushes"] == [{"data": {"type": "message"}}]


def test_every_error_code_has_words_and_every_word_a_code():
    statuses = errors.statuses()
    assert set(statuses) <= set(errors.WORDS)


def test_an_error_code_can_be_linked_to(browser):
    html = browser.get("/docs/errors").content.decode()
    for code in CONTRACT_CODES & set(errors.statuses()):
        assert f'id="{code}"' in html


@pytest.mark.parametrize("path", ["/nothing", "/api/v1/nothing", "/docs/nothing", "/api/v1/auth/login/"])
def test_an_unknown_path_answers_with_the_envelope(browser, path):
    response = browser.get(path)
    assert response.status_code == 404
    assert response.json()["error"] == "not_found"


def test_a_wrong_method_answers_with_the_envelope(browser):
    response = browser.post("/healthz")
    assert response.status_code == 405
    assert response.headers["Allow"] == "GET, HEAD"
    assert response.json()["error"] == "method_not_allowed"


def test_the_page_about_the_socket_names_every_command_and_event(browser):
    html = browser.get("/docs/realtime").content.decode()
    for name in ("command.call.invite", "command.presence.watch", "message.new", "call.signal", "ready"):
        assert f'id="{name}"' in html
    assert "Reply: <code>{call, ice_servers, ice_transport_policy}</code>." in html


@pytest.mark.parametrize("address", ["ann@example.com", f"{'a' * 200}@example.com", "анна@пример.рф"])
def test_a_mail_is_found_by_its_address_whatever_that_looks_like(settings, tmp_path, address):
    settings.MAILBOX_DIR = tmp_path
    backend = EmailBackend(file_path=str(tmp_path))
    for to in (address, "somebody.else@example.com"):
        backend.send_messages([EmailMultiAlternatives("Hello", "Hello", "from@example.com", [to])])
    assert len(mailbox.mails(to=address.upper())) == 1


def test_a_mail_that_is_deleted_while_it_is_looked_for_is_not_there(settings, tmp_path, monkeypatch):
    settings.MAILBOX_DIR = tmp_path
    EmailBackend(file_path=str(tmp_path)).send_messages(
        [EmailMultiAlternatives("Hello", "Hello", "from@example.com", ["ann@example.com"])]
    )
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: (path.unlink(), read(path))[1])
    assert mailbox.mails() == []


@pytest.mark.parametrize("path", ["/nothing", "/docs/nothing"])
def test_a_browser_gets_a_page_for_an_unknown_path(browser, path):
    response = browser.get(path, headers={"Accept": "text/html,*/*;q=0.8"})
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "Page not found" in response.content.decode()


def test_api_paths_stay_json_in_a_browser(browser):
    response = browser.get("/api/v1/nothing", headers={"Accept": "text/html"})
    assert (response.status_code, response.json()["error"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/docs/", "/docs"),
        ("/api/docs/", "/api/docs"),
        ("/docs/quickstart/", "/docs/quickstart"),
        ("/api/v1/", "/docs/reference"),
        ("/docs/api", "/api/docs"),
        ("/admin", "/admin/"),
    ],
)
def test_paths_that_people_type_lead_somewhere(browser, path, target):
    response = browser.get(path, headers={"Accept": "text/html"})
    assert response.status_code in (301, 302)
    assert response.headers["Location"] == target


def test_the_documentation_can_be_switched_off(browser, settings):
    settings.DOCS = False
    for path in ("/docs", "/api/docs", "/docs/quickstart", "/docs/search.json", "/docs/reference/auth_login"):
        assert browser.get(path).status_code == 404
    assert browser.get("/api/v1/schema?format=json").status_code == 200


@pytest.mark.parametrize("query", ["", "?format=json", "?format=yaml", "?version=9", "?lang=de"])
def test_the_schema_is_not_generated_for_each_request(browser, monkeypatch, query):
    monkeypatch.setattr(SchemaGenerator, "get_schema", None)
    response = browser.get(f"/api/v1/schema{query}")
    assert response.status_code == 200
    assert b"messages_send" in response.content


def test_the_query_of_the_schema_makes_django_load_no_language(browser):
    loaded = set(trans_real._translations)
    assert browser.get("/api/v1/schema?format=json&lang=x-nowhere").status_code == 200
    assert set(trans_real._translations) == loaded


def test_without_debug_nothing_leads_to_the_pages_of_a_developer(browser, settings):
    settings.DEBUG = False
    for path in OPEN_PAGES:
        html = browser.get(path).content.decode()
        assert 'href="/dev/' not in html or path in ("/docs/testing",), path


def test_the_current_page_is_marked_in_the_navigation(browser):
    html = browser.get("/docs/uploads").content.decode()
    assert '<a href="/docs/uploads" aria-current="page">Images</a>' in html
    assert html.count('aria-current="page"') == 1


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("idempotency client_id", "/docs/idempotency"),
        ("email_taken", "/docs/errors#email_taken"),
        ("recovery codes", "/docs/reference/auth_two_step_recovery_codes"),
        ("resume", "/docs/live-events#resume-after-a-break"),
    ],
)
def test_search_finds_pages_operations_and_codes(browser, query, address):
    hits = browser.get("/docs/search.json", {"q": query}).json()["hits"]
    assert address in [hit["address"] for hit in hits]
    assert f'href="{address}"' in browser.get("/docs/search", {"q": query}).content.decode()


@pytest.mark.parametrize("query", ["code", "token", "two step", "client_id"])
def test_an_excerpt_is_whole_words_without_marks(browser, query):
    hits = browser.get("/docs/search.json", {"q": query}).json()["hits"]
    known = {word for entry in search._index() for word in entry.text.split()}
    assert len(hits) > 5
    for hit in hits:
        words = hit["excerpt"].split()
        assert set(words) - {"…"} <= known, hit
        assert "`" not in hit["excerpt"]
        assert not hit["where"] or words[0] != hit["where"], hit


def test_a_search_without_words_finds_nothing(browser):
    assert browser.get("/docs/search.json", {"q": " <> "}).json() == {"ok": True, "hits": []}


@pytest.mark.parametrize("path", ["/docs", "/docs/quickstart", "/docs/errors", "/dev/mail/"])
def test_pages_are_in_english_and_say_so(browser, path):
    assert browser.get(path, headers={"Accept-Language": "de"})["Content-Language"] == "en"
