"""Which pages may connect: the handshake of a socket and the preflight of a request have one answer."""

import logging

import pytest
from django.core.exceptions import ImproperlyConfigured
from websockets.exceptions import ConnectionClosed

from config import environment
from core import origins
from realtime.routing import is_allowed_origin
from tests.client import ApiClient
from tests.factories import sign_in

LISTED = [
    "https://app.example.org", "http://plain.example", "capacitor://localhost", "ionic://localhost", "https://localhost",
    "http://localhost", "tauri://localhost", "https://Bücher.example", "https://UPPER.example:8443/", "http://[2001:DB8::1]:8080",
    "chrome-extension://abcdefghijklmnop",
]  # fmt: skip
ALLOWED = {
    # Listed, in every form in which a browser or an app may write it.
    "https://app.example.org", "https://app.example.org:443", "https://app.example.org/", "HTTPS://APP.EXAMPLE.ORG", "http://plain.example:80",
    "capacitor://localhost", "Capacitor://LocalHost", "ionic://localhost", "https://localhost", "http://localhost", "tauri://localhost",
    "https://xn--bcher-kva.example", "https://XN--BCHER-KVA.example:443", "https://upper.example:8443", "https://UPPER.EXAMPLE:8443",
    "http://[2001:db8::1]:8080", "chrome-extension://abcdefghijklmnop",
    # Of the trusted sites, and of the hosts that this server serves.
    "https://a.example.net", "https://a.b.example.net", "https://chat.example.com", "https://chat.example.com:443", "https://CHAT.example.com/",
    "http://chat.example.com:8000",
}  # fmt: skip
REFUSED = {
    "http://evil.example", "https://evil.example:443", "https://app.example.org:8443", "http://app.example.org", "https://plain.example",
    "https://app.example.org.evil.example", "https://evil-app.example.org", "https://sub.app.example.org", "capacitor://evil", "ionic://localhost:1",
    "capacitor://localhost/app", "https://upper.example", "https://example.net", "https://evilexample.net", "http://a.example.net",
    "https://*.example.net", "https://xn--bcher-kva.example.evil", "https://localhost:444", "file://", "file:///", "null", "", " ", "*",
    "data:text/html,x", "javascript://chat.example.com", "blob:https://chat.example.com", "ftp://chat.example.com", "capacitor://chat.example.com",
    "https://chat.example.com@evil.example", "https://evil.example@chat.example.com", "https://chat.example.com/path", "https://chat.example.com?x",
    "https://chat.example.com#x", "https://chat.example.com//", "https://chat.example.com:0", "https://chat.example.com:99999",
    "https://chat.example.com:", "https://chat.example.com, https://chat.example.com", "https:chat.example.com", "//chat.example.com",
    "chat.example.com", "https://", "https://[", "https://[::1", "https://chat.example.com\\@evil.example", "https://chat.example.com.evil.example",
    "https://ch%61t.example.com", "https://chat.example.com\x00", "https://bücher.example", "x" * 9000,
}  # fmt: skip


@pytest.fixture
def lists(settings):
    settings.ALLOWED_HOSTS = ["chat.example.com", "testserver"]
    settings.CORS_ALLOWED_ORIGINS = [environment.origin("CORS_ALLOWED_ORIGINS", origin) for origin in LISTED]
    settings.CSRF_TRUSTED_ORIGINS = [environment.origin("CSRF_TRUSTED_ORIGINS", "https://*.example.net")]


@pytest.mark.once
@pytest.mark.usefixtures("lists", "db")
@pytest.mark.parametrize("origin", sorted(ALLOWED | REFUSED), ids=lambda origin: ascii(origin)[:60])
def test_handshake_and_preflight_agree(origin):
    is_allowed = origin in ALLOWED
    assert is_allowed_origin([(b"Origin", origin.encode("latin-1"))]) is is_allowed
    if "\x00" in origin:
        return
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    for method in ("OPTIONS", "POST"):
        response = ApiClient().raw(method, "/api/v1/auth/login", headers=headers)
        assert response.get("Access-Control-Allow-Origin") == (origin if is_allowed else None)


@pytest.mark.usefixtures("lists")
def test_an_entry_may_be_written_as_a_browser_would_not(settings):
    settings.CORS_ALLOWED_ORIGINS = ["https://Raw.example/", "https://bücher.example:443"]
    assert origins.is_allowed("https://raw.example") and origins.is_allowed("https://xn--bcher-kva.example")


@pytest.mark.usefixtures("lists")
def test_none_is_a_native_app_and_several_are_refused():
    assert is_allowed_origin([]) is True
    assert is_allowed_origin([(b"origin", b"https://app.example.org")] * 2) is False


@pytest.mark.once
@pytest.mark.parametrize(
    "entry",
    ["app.example.org", "https://", "https://a.example/app", "https://a.example?x", "null", "file://", "*", "https://*", "https://a b.example",
     "https://a.example:x", "https://a.example:0", "https://a.example:70000", "https://user@a.example", "https://[::1", "javascript://x",
     "https://-", "https://a.*.example", "https://\u2028.example"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["CORS_ALLOWED_ORIGINS", "CSRF_TRUSTED_ORIGINS"])
def test_a_malformed_entry_is_refused_with_a_sentence(name, entry):
    with pytest.raises(ImproperlyConfigured, match=rf"^{name} is https://app\.example\.com,.* no path, not "):
        environment.origin(name, entry)


def test_a_foreign_page_hears_why(open_socket, settings, caplog):
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    with caplog.at_level(logging.WARNING, logger="parley.realtime"):
        assert open_socket(origin="https://evil.example").closed() == (4403, "forbidden")
        long = open_socket(headers={"Origin": "https://evil.example/\t" + "x" * 5000})
        assert long.closed() == (4403, "forbidden")
    first, second = (record.getMessage() for record in caplog.records)
    assert first.endswith("'https://evil.example'")
    assert len(second) < 300 and second.isprintable()


def test_an_app_in_a_web_view_connects(open_socket, alice, settings):
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    settings.CORS_ALLOWED_ORIGINS = ["capacitor://localhost"]
    token = sign_in(alice)[1]
    assert open_socket(token, origin="capacitor://localhost").ready["user_id"] == alice.id
    with pytest.raises(ConnectionClosed) as closed:
        open_socket(origin="ionic://localhost").socket.recv(5)
    assert closed.value.rcvd.code == 4403
