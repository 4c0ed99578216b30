"""Pages of other origins: only those that are listed, with every header that the API knows."""

import pytest

from tests.client import ApiClient

HEADERS = [
    "authorization",
    "content-type",
    "x-action-token",
    "x-device-token",
    "x-device-name",
    "x-request-id",
    "if-none-match",
]


@pytest.fixture
def listed(settings):
    settings.CORS_ALLOWED_ORIGINS = ["https://app.example.org"]


@pytest.mark.usefixtures("listed", "db")
def test_a_listed_origin_may_send_the_headers_of_the_api():
    headers = {"Origin": "https://app.example.org", "Access-Control-Request-Method": "POST"}
    response = ApiClient().raw(
        "OPTIONS",
        "/api/v1/auth/change-password",
        headers=headers | {"Access-Control-Request-Headers": ",".join(HEADERS)},
    )
    assert response["Access-Control-Allow-Origin"] == "https://app.example.org"
    allowed = {name.strip().lower() for name in response["Access-Control-Allow-Headers"].split(",")}
    assert set(HEADERS) <= allowed


@pytest.mark.usefixtures("listed", "db")
def test_another_origin_gets_nothing():
    headers = {"Origin": "https://evil.example.org", "Access-Control-Request-Method": "POST"}
    response = ApiClient().raw("OPTIONS", "/api/v1/auth/login", headers=headers)
    assert "Access-Control-Allow-Origin" not in response


@pytest.mark.usefixtures("listed")
def test_the_clock_and_the_limits_can_be_read(as_alice):
    response = as_alice.raw("GET", "/api/v1/auth/me", headers={"Origin": "https://app.example.org"})
    exposed = {name.strip() for name in response["Access-Control-Expose-Headers"].split(",")}
    assert {"Date", "Retry-After", "X-Request-Id"} <= exposed


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "depends"), [("/api/v1/schema", True), ("/robots.txt", False)])
def test_caches_hear_that_a_reply_depends_on_the_origin(path, depends):
    assert ("origin" in ApiClient().raw("GET", path).get("Vary", "").lower()) is depends
