"""What goes wrong at the support pages is told as a page; everywhere else it is the envelope."""

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


def test_an_old_form_differs_from_a_missing_permission(db):
    user = staff("Support")
    client = Client(enforce_csrf_checks=True)
    answer = client.post("/admin/login/", {"username": user.email, "password": PASSWORD})
    assert answer.status_code == 403
    assert "reload the page" in answer.content.decode()


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
