"""Whatever is sent, the answer is the envelope, never a 500, and says what the schema promises.

`FUZZ=10000` asks for more examples than a run of every day.
"""

import json
import os
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.client import ApiClient
from tests.contract.routes import address, all_routes
from tests.schema import document, hold

EXAMPLES = int(os.environ.get("FUZZ", "250"))
ROUTES = all_routes()
FIELDS = [
    "email", "password", "code", "new_password", "current_password", "first_name", "last_name", "language", "username",
    "bio", "user_id", "body", "reply_to_id", "client_id", "message_id", "emoji", "reason", "comment", "token",
    "platform", "device_id", "locale", "action", "challenge_token", "recovery_code", "remember", "hint", "enabled",
    "quiet_mode", "likes", "comments", "follows", "messages", "who_can_message", "read_receipts", "event_id", "events",
]  # fmt: skip

odd_texts = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["", "\x00", "\ud800", "a\x00b", "%", "_", "\\", "'; --", "🙂" * 5, "é" * 300, "0" * 5000, "‮abc"]),
)
odd_numbers = st.one_of(
    st.integers(), st.sampled_from([0, -1, 2**31, 2**63 - 1, 2**63, 10**400, True]), st.floats(allow_nan=False)
)
odd_values = st.recursive(
    st.one_of(st.none(), st.booleans(), odd_numbers, odd_texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)
ids = st.one_of(
    st.sampled_from(["1", "0", "-1", "01", "1.0", "1e3", "9" * 30, "abc", "%00", "%F0%9F%98%80", "true", "null"]),
    st.integers(1, 2**70).map(str),
    st.text(string.ascii_letters + string.digits + "-_.~", min_size=1, max_size=20),
)
bodies = st.one_of(
    st.dictionaries(st.sampled_from(FIELDS), odd_values, max_size=6).map(lambda body: json.dumps(body).encode()),
    st.binary(max_size=60),
    st.sampled_from(
        [
            b"", b"null", b"[]", b"1", b'"x"', b"{", b"[" * 100_000, b'{"a":' * 50_000, b"NaN", b'{"body": NaN}',
            b'{"body": 1e400}', b'{"a":1,"a":2}', b"\xff\xfe{}", b"\xef\xbb\xbf{}", b'{"body":"\\ud800"}',
            b'{"user_id": ' + b"9" * 5000 + b"}", b"{}" + b" " * 600_000,
        ]
    ),
)  # fmt: skip
types = st.sampled_from(
    [
        "application/json", "application/json; charset=utf-16", "application/json; charset=nonsense", "text/plain", "",
        "application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary=x", "a/b/c", "json",
    ]
)  # fmt: skip
queries = st.dictionaries(
    st.sampled_from(
        ["limit", "offset", "before", "after", "cursor", "q", "since", "epoch", "unread", "e", "s", "emoji"]
    ),
    st.sampled_from(
        ["", "0", "1", "-1", "abc", "9" * 30, "%00", "1.5", "true", "%ED%A0%80", "%F0%9F%91%8D", "a" * 3000]
    ),
    max_size=3,
)
headers = st.dictionaries(
    st.sampled_from(
        ["Accept", "Accept-Language", "X-Action-Token", "X-Device-Token", "X-Request-Id", "Origin", "X-Forwarded-For",
         "If-None-Match", "X-HTTP-Method-Override", "webhook-id", "webhook-timestamp", "webhook-signature"]
    ),
    st.sampled_from(
        ["", "*/*", "application/json", "text/html", "ru", "xx-" * 50, "x" * 2000, "1", "http://[", "null", "é", "v1,===="]
    ),
    max_size=3,
)  # fmt: skip


def judge(response, method: str, path: str) -> None:
    assert response.status_code < 500, f"{method} {path}: {response.content[:300]!r}"
    if response.status_code in (204, 304) or response.streaming:
        return
    content_type = response.headers.get("Content-Type", "")
    if response.status_code < 400 and not content_type.startswith("application/json"):
        return
    body = json.loads(response.content)
    if response.status_code >= 400:
        assert body["ok"] is False
        assert set(body) <= {"ok", "error", "message", "fields", "retry_after", "request_id"}
        assert body["request_id"] == response.headers["X-Request-Id"]
        assert ("fields" in body) == (body["error"] == "validation_error")
        assert ("retry_after" in body) == (response.status_code in (429, 503))
    hold(method, path, response.status_code, body)


@pytest.mark.timeout(1800)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    route=st.sampled_from(ROUTES), value=ids, body=bodies, content_type=types, query=queries, sent=headers,
    signed_in=st.booleans(),
)  # fmt: skip
def test_no_request_breaks_the_envelope(as_alice, anonymous, route, value, body, content_type, query, sent, signed_in):
    method, path = route
    client = as_alice if signed_in else anonymous
    url = address(path, value) + "?" + "&".join(f"{name}={text}" for name, text in query.items())
    payload = b"" if method == "GET" else body
    response = client.raw(method, url, payload, content_type=content_type, headers=sent)
    judge(response, method, address(path, value))


def fields_of(described):
    """The names of the fields that a request's schema may have."""
    described = (
        document()["components"]["schemas"][described["$ref"].rsplit("/", 1)[1]] if "$ref" in described else described
    )
    names = set(described.get("properties", {}))
    return names.union(*(fields_of(part) for kind in ("oneOf", "anyOf", "allOf") for part in described.get(kind, ())))


def test_an_error_may_quote_half_a_character(as_alice):
    """Every field of every request: the answer to what UTF-8 cannot encode can be encoded itself."""
    count = 0
    for path, operations in document()["paths"].items():
        for method, operation in operations.items():
            described = operation.get("requestBody", {}).get("content", {}).get("application/json")
            for field in fields_of(described["schema"]) if described else ():
                address = "/".join("1" if part.startswith("{") else part for part in path.split("/"))
                for value in ("\ud800", ["\ud800"], {"\ud800": "\ud800"}):
                    response = as_alice.raw(method.upper(), address, {field: value})
                    judge(response, method.upper(), address)
                    count += 1
    assert count > 150


@settings(max_examples=EXAMPLES // 5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    route=st.sampled_from(ROUTES),
    method=st.sampled_from(["HEAD", "OPTIONS", "TRACE", "PROPFIND", "PUT", "DELETE", "GET", "POST"]),
)
def test_no_method_breaks_the_envelope(as_alice, route, method):
    _method, path = route
    response = as_alice.raw(method, address(path))
    assert response.status_code < 500
    if response.status_code == 405 and response.content:
        assert json.loads(response.content)["error"] == "method_not_allowed"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Host": "evil.example.com"}, {400}),
        ({"Host": "127.0.0.1, evil.example.com"}, {400}),
        ({"X-Forwarded-Host": "evil.example.com"}, {200}),
        ({"X-Forwarded-For": "1.2.3.4, nonsense"}, {200}),
        ({"X-Forwarded-Proto": "https"}, {200}),
        ({"Forwarded": "for=1.2.3.4"}, {200}),
        ({"Daphne-Root-Path": "/x"}, {200}),
        ({"X-HTTP-Method-Override": "DELETE"}, {200}),
        ({"X-Original-URL": "/admin/"}, {200}),
        ({"X-Rewrite-URL": "/admin/"}, {200}),
        ({"Accept": "application/json;q=0"}, {200, 406}),
        ({"Accept": "image/png"}, {406}),
        ({"Accept": ""}, {200}),
        ({"Accept": " "}, {200}),
        ({"Accept": "x" * 20_000}, {200, 406}),
        ({"Accept-Language": "x" * 20_000}, {200}),
        ({"Accept-Language": "de-DE,de;q=0.9,*;q=0.1"}, {200}),
        ({"X-Request-Id": "a\tb"}, {200}),
        ({"X-Request-Id": "x" * 65}, {200}),
        ({"Cookie": "sessionid=" + "x" * 4000}, {200}),
        ({"Content-Length": "5"}, {200}),
        ({"Transfer-Encoding": "chunked"}, {200}),
        ({"Origin": "null"}, {200}),
        ({"Origin": "http://["}, {200}),
        ({"Range": "bytes=0-1"}, {200}),
        ({"If-None-Match": '"x"'}, {200}),
        ({"Expect": "nonsense"}, {200}),
    ],
)
def test_headers_do_not_move_a_request(as_alice, alice, headers, expected):
    response = as_alice.raw("GET", "/api/v1/auth/me", headers=headers)
    assert response.status_code in expected, response.content
    body = json.loads(response.content)
    if response.status_code == 200:
        assert body["user"]["id"] == alice.id
    else:
        assert body["ok"] is False
    assert response.headers["X-Request-Id"].isascii()


@pytest.mark.parametrize(
    ("authorization", "error"),
    [
        ("", "token_invalid"), ("Bearer", "token_invalid"), ("Bearer ", "token_invalid"), ("Basic abc", "token_invalid"),
        ("Token abc", "token_invalid"), ("Bearer a b", "token_invalid"), ("Bearer é", "token_invalid"),
        ("Bearer " + "x" * 8000, "token_invalid"), ("Bearer ..", "token_invalid"), ("\x00", "token_invalid"),
    ],
)  # fmt: skip
def test_odd_authorization_is_an_invalid_token(anonymous, authorization, error):
    response = anonymous.raw("GET", "/api/v1/auth/me", headers={"Authorization": authorization})
    assert response.status_code == 401
    assert json.loads(response.content)["error"] == error


FORBIDDEN = {
    "is_admin": True, "is_staff": True, "is_superuser": True, "is_verified": True, "email": "evil@example.com",
    "id": 1, "user": 1, "sender_id": 1, "password": "another password 1", "created_at": "2000-01-01T00:00:00Z",
    "blocked_at": None, "unread_count": 0,
}  # fmt: skip


def test_fields_that_are_not_writable_are_ignored(as_alice, alice):
    before = as_alice.get("/api/v1/auth/me")["user"]
    for name, value in FORBIDDEN.items():
        as_alice.patch("/api/v1/profile", {name: value, "bio": "hello"})
    after = as_alice.get("/api/v1/auth/me")["user"]
    assert after == before | {"bio": "hello"}
    alice.refresh_from_db()
    assert not alice.is_staff
    assert alice.check_password("correct horse 9")


def test_a_body_over_the_limit_is_413(as_alice):
    big = json.dumps({"body": "x" * 600_000})
    assert (
        ApiClient(as_alice.token).post("/api/v1/messages/conversations", big, status=413)["error"] == "file_too_large"
    )


def test_hundreds_of_query_parameters_and_form_fields_are_no_500(as_alice):
    query = "&".join(f"a{n}=1" for n in range(1500))
    assert as_alice.raw("GET", f"/api/v1/auth/me?{query}").status_code in (200, 400)
    form = {f"f{n}": "x" for n in range(200)}
    response = as_alice.upload("/api/v1/profile/avatar", status=400, method="PUT", **form)
    assert response["ok"] is False


@pytest.mark.parametrize("accept", ["*/*", "application/json", "image/png"])
def test_no_other_form_of_a_reply_can_be_asked_for(as_alice, accept):
    response = as_alice.raw("GET", "/api/v1/auth/me?format=xml", headers={"Accept": accept})
    assert response.status_code == 404
    assert json.loads(response.content)["ok"] is False
