"""What goes wrong at the support pages is told as a page; everywhere else it is the envelope."""

from urllib.parse import urlencode

from django.test import Client, override_settings

from accounts.models import User
from tests.factories import PASSWORD
from tests.staff import admin_client, staff


def test_a_missing_permission_is_shown_as_a_page(db):
    client = admin_client(staff("Auditor"))
    answer = client.post("/admin/accounts/user/", {"action": "block", "_selected_action": "1"})
    assert answer.status_code == 403
    assert "Permission denied" in answer.content.decode()


@override_settings(DEBUG=False, SECURE_SSL_REDIRECT=False)
def test_a_missing_row_is_shown_as_a_page(db):
    client = admin_client(staff("Auditor"))
    answer = client.get("/admin/accounts/user/1/history/")
    assert answer.status_code == 404
    assert "Page not found" in answer.content.decode()
    assert client.get("/nowhere").json()["error"] == "not_found"


def test_a_method_that_a_page_does_not_have_is_refused_with_a_page(db):
    answer = admin_client(staff("Auditor")).get("/admin/logout/")
    assert (answer.status_code, answer["Allow"]) == (405, "POST, OPTIONS")
    assert "<h1>The request could not be read.</h1>" in answer.content.decode()


@override_settings(DEBUG=False, SECURE_SSL_REDIRECT=False)
def test_a_filter_that_is_none_is_shown_as_a_page(db):
    client = admin_client(staff("Auditor"))
    answers = (
        client.get("/admin/accounts/user/", {"created_at__gte": "yesterday"}),
        client.post("/admin/accounts/user/", {"action": "block", "_selected_action": "abc"}),
    )
    for answer in answers:
        assert answer.status_code == 400
        assert "<h1>The request could not be read.</h1>" in answer.content.decode()
        assert 'href="/admin/"' in answer.content.decode()


@override_settings(DEBUG=False, SECURE_SSL_REDIRECT=False, DATA_UPLOAD_MAX_MEMORY_SIZE=1000)
def test_a_form_that_is_too_large_is_shown_as_a_page(db):
    client = admin_client(staff("Support"))
    form = {"action": "block", "reason": "x" * 2000}
    answer = client.post("/admin/accounts/user/", urlencode(form), content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 413
    assert "<h1>The request is too large.</h1>" in answer.content.decode()


@override_settings(DEBUG=False, SECURE_SSL_REDIRECT=False)
def test_a_wrong_host_is_refused_at_the_support_pages_too(db):
    answer = Client(headers={"Host": "evil.example"}).get("/admin/login/")
    assert answer.status_code == 400


def test_an_old_form_differs_from_a_missing_permission(db):
    user = staff("Support")
    client = Client(enforce_csrf_checks=True)
    answer = client.post("/admin/login/", {"username": user.email, "password": PASSWORD})
    assert answer.status_code == 403
    # Without the cookie, a reload alone never helps.
    assert "allow them for this address in the browser, then reload the page" in answer.content.decode()
    client.get("/admin/login/")
    answer = client.post("/admin/login/", {"username": user.email, "password": PASSWORD})
    assert answer.status_code == 403
    assert "another tab: reload the page" in answer.content.decode()


def test_a_server_error_is_shown_with_the_request_id(db, monkeypatch):
    client = admin_client(staff("Auditor"))
    client.raise_request_exception = False

    def broken(user):
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(User, "__str__", broken)
    with override_settings(DEBUG=False, SECURE_SSL_REDIRECT=False):
        answer = client.get(f"/admin/accounts/user/{User.objects.get().id}/change/")
    assert answer.status_code == 500
    assert answer.headers["X-Request-Id"] in answer.content.decode()
