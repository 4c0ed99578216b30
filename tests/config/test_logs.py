"""No secret leaves in a log, whatever form the log has and wherever in a record it stands."""

import json
import logging
import sys

import pytest

from accounts.sign_in.recovery_codes import ALPHABET
from accounts.tokens import new_opaque_token
from server.logs import BoundedFilter, ContextFilter, JsonFormatter, TextFormatter, without_secrets

OPAQUE = new_opaque_token()[0]
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
RECOVERY = "-".join([ALPHABET[2:6], ALPHABET[10:14], ALPHABET[20:24], ALPHABET[28:32]])
SERVER_KEY = f"sk_abcd1234_{'aB3-_' * 8}xyz"
SECRETS = [
    (f"GET /email-undo/{OPAQUE} 404", OPAQUE),
    (f"Authorization: Bearer {JWT}", JWT),
    (f"Authorization: Bearer {OPAQUE[:20]}", OPAQUE[:20]),
    (f"X-Device-Token: {OPAQUE}", OPAQUE),
    (f"cookie trusted_device={OPAQUE}; sessionid=abcdef0123456789abcdef0123456789", OPAQUE),
    ("cookie sessionid=abcdef0123456789abcdef0123456789", "abcdef0123456789abcdef0123456789"),
    ('{"email": "ann@example.com", "code": "482910"}', "482910"),
    ("{'code': '48291034', 'x': 1}", "48291034"),
    ("code=482910&x=1", "482910"),
    ('{"password": "correct horse 9", "remember": true}', "correct horse 9"),
    ("{'new_password': 'correct horse 9'}", "correct horse 9"),
    ('{"body": "{\\"password\\": \\"correct horse 9\\"}"}', "correct horse 9"),
    (f"recovery_code {RECOVERY} of ten", RECOVERY),
    ("postgres://parley:hunter2@db.example.com/parley refused", "hunter2"),
    ("redis://:hunter2@cache.example.com:6379/0 timed out", "hunter2"),
    ("action_token=abc.def", "abc.def"),
    ("/api/v1/media/x?e=1&s=" + "a1" * 20, "a1" * 20),
    (f"the key {SERVER_KEY} of {SERVER_KEY}", SERVER_KEY[12:]),
    (f"url?key={SERVER_KEY}&x=1", SERVER_KEY[12:]),
    ("shop|https://example.com|whsec_aB3+/aB3+/aB3+/aB3+/=|*", "aB3"),
]


def record(message, *args, exc_info=None, stack_info=None, **extra):
    made = logging.LogRecord("test", logging.ERROR, __file__, 1, message, args, exc_info, "f", stack_info)
    vars(made).update(extra)
    ContextFilter().filter(made)
    return made


def failing(text):
    try:
        raise ValueError(text)
    except ValueError:
        return sys.exc_info()


FORMATTERS = [TextFormatter("%(levelname)s %(name)s %(message)s"), JsonFormatter()]


@pytest.mark.once
@pytest.mark.parametrize(("text", "secret"), SECRETS)
@pytest.mark.parametrize("formatter", FORMATTERS, ids=["text", "json"])
def test_no_secret_in_a_line(formatter, text, secret):
    lines = [
        formatter.format(record(text)),
        formatter.format(record("said %s", text)),
        formatter.format(record("it failed", exc_info=failing(text))),
        formatter.format(record("where", stack_info=f"Stack:\n{text}")),
        formatter.format(record("more", particulars={"inner": [text]}, address=text)),
    ]
    for line in lines:
        assert secret not in line


def test_what_is_no_secret_stays():
    lines = [
        "GET /api/v1/messages/conversations/<int:id> 200",
        "invalid_otp token_revoked two_step_token_is_live",
        "exit code: 1, status code = 404, code='P0001'",
        "4xx at 2026-11-22T15:20:31.123Z in 12.5 ms, user 482910, 2026-1122-3344",
        "https://chat.example.com/docs/api",
        "test_of_a_change_and_renewals_of_a_copy_only",
        "9c5b94b1-35ad-49bb-b118-8e8fc24abf80",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ]
    for line in lines:
        assert without_secrets(line) == line


# Clients choose some of the texts, such as a method or a path. Seconds for each, if the time grew with the square.
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "part", ["a", "aB", "-", "eyJ", "eyJa.", "token", "token ", 'token="', "code", "ABCD-", "://a:", '"']
)
def test_the_time_grows_with_the_length_of_a_text(part):
    without_secrets(part * (60_000 // len(part)))


def test_a_method_that_a_client_invents_is_not_logged(anonymous, caplog):
    caplog.set_level(logging.INFO, logger="parley.access")
    anonymous.raw("A" * 8_000, "/api/v1/auth/me")
    assert [record.getMessage() for record in caplog.records if record.name == "parley.access"] == [
        "other /api/v1/auth/me 401"
    ]


def test_json_stays_json():
    line = json.loads(FORMATTERS[1].format(record('{"password": "x y"}', status=200, ms=1.5, ok=True, none=None)))
    assert (line["status"], line["ms"], line["ok"]) == (200, 1.5, True)
    assert "none" not in line
    assert "x y" not in line["message"]


@pytest.mark.django_db
def test_an_unknown_path_is_not_taken_for_the_first_page(anonymous, caplog):
    caplog.set_level(logging.INFO, logger="parley.access")
    for path in ("/", "/healthz", "/nowhere/7"):
        anonymous.raw("GET", path)
    lines = [record.getMessage() for record in caplog.records if record.name == "parley.access"]
    assert lines == ["GET / 200", "GET /healthz 200", "GET /(none) 404"]


def test_a_refused_host_leaves_a_line(anonymous, caplog):
    assert anonymous.raw("GET", "/api/v1/auth/me", headers={"Host": "chat.example.org"}).status_code == 400
    assert "refused: the host 'chat.example.org' is not in ALLOWED_HOSTS" in caplog.text


def test_clients_fill_no_log(monkeypatch):
    """So many lines of a kind a minute; the next one says how many were left out. Errors and other loggers are not counted."""
    clock = [100.0]
    monkeypatch.setattr("server.logs.time.monotonic", lambda: clock[0])
    bounded = BoundedFilter(["server.middleware"], lines=3)

    def lines(count, message="the host %r", level=logging.WARNING, name="server.middleware"):
        records = [logging.LogRecord(name, level, "", 1, message, (f"h{n}",), None) for n in range(count)]
        return [each.getMessage() for each in records if bounded.filter(each)]

    assert lines(1000) == ["the host 'h0'", "the host 'h1'", "the host 'h2'"]
    assert len(lines(1000, message="another %s")) == 3
    assert len(lines(10, level=logging.ERROR)) == len(lines(10, name="parley.access")) == 10
    clock[0] += 61
    assert lines(2) == ["the host 'h0' (and 997 more like it before)", "the host 'h1'"]
    for number in range(5000):
        lines(1, message=f"{number} %s")
    assert len(bounded._counts) <= bounded.KINDS


def test_the_lines_that_clients_cause_are_bounded(settings):
    """Each logger that writes what a client sent, without a sign-in: its handler counts."""
    (handler,) = settings.LOGGING["handlers"].values()
    assert handler["filters"][0] == "bounded"
    assert {"server.middleware", "uvicorn.error"} <= set(settings.LOGGING["filters"]["bounded"]["loggers"])
