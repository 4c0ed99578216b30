"""What pages may ask of their user, and who may embed what this service sends."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from portal.pages import PERMISSIONS
from tests.client import ApiClient
from tests.images import corpus
from tests.staff import admin_client, staff

PAGES = ["/docs", "/docs/quickstart", "/api/docs", "/nothing-here", "/admin/login/", "/email-undo/nothing"]


def allowed(response):
    """The features that the page may use; every one of the list is named."""
    rules = dict(rule.split("=") for rule in response.headers["Permissions-Policy"].split(", "))
    assert tuple(rules) == PERMISSIONS and set(rules.values()) <= {"()", "(self)"}
    return {name for name, rule in rules.items() if rule == "(self)"}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_may_use_no_device(path, client, db):
    response = client.get(path, headers={"Accept": "text/html"})
    assert response.headers["Content-Type"].startswith("text/html")
    assert allowed(response) == set()
    assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_the_support_pages_may_use_no_device(db):
    assert allowed(admin_client(staff(is_superuser=True)).get("/admin/")) == set()


@pytest.mark.parametrize("path", ["/", "/app/", "/app/settings"])
def test_the_client_may_use_camera_microphone_and_screen(path, client, db):
    assert allowed(client.get(path)) == {"camera", "display-capture", "microphone"}


@pytest.mark.parametrize(("origins", "policy"), [([], "same-origin"), (["https://app.example.org"], "cross-origin")])
def test_pictures_are_for_the_pages_of_this_site_and_of_allowed_origins(as_alice, settings, origins, policy):
    settings.CORS_ALLOWED_ORIGINS = origins
    form = {"file": SimpleUploadedFile("a.jpg", corpus.jpeg(), "image/jpeg")}
    picture = as_alice.upload("/api/v1/profile/avatar", status=200, method="PUT", **form)["avatar_url"]
    for address in (picture, "/api/v1/media/nothing", "/api/v1/auth/me"):
        response = ApiClient().raw("GET", address)
        assert response.headers["Cross-Origin-Resource-Policy"] == policy
        assert "Permissions-Policy" not in response.headers


def test_what_is_the_same_for_all_may_be_embedded_anywhere(client, settings):
    response = client.get("/static/css/tokens.css")
    assert response.status_code == 200 and response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
