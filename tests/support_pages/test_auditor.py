"""An Auditor sees everything and changes nothing: by what the pages offer, and by what the server accepts."""

from html.parser import HTMLParser

import pytest

from accounts.models import AuditEntry
from tests.browser.server_fixtures import DETAILS, PASSWORD, fill
from tests.client import ApiClient
from tests.staff import admin_client, registered_actions, registered_forms, staff
from tests.support_pages.test_actions import WALKS, WITH_AN_ANSWER, everything

pytestmark = pytest.mark.django_db

# Who is staff, with what rights, and which servers have keys is a matter of superusers.
UNSEEN = {"auth/group", "integrations/serverkey", "otp_static/staticdevice", "otp_totp/totpdevice"}
SEEN = sorted(set(DETAILS) - UNSEEN)
READING = {"", "download_csv", "download_json"}  # of the audit log, which holds nothing but what staff did
# Buttons of searches, of filters and of the choice of an action. The name of a saved filter stays in the browser.
BUTTONS = {"Search", "Go", "Close", "Save"}
KEPT_HERE = {"filter-name", "action-toggle", "searchbar"}


@pytest.fixture
def rows(db):
    filled = fill()["rows"]
    filled["audit entry"] = str(AuditEntry.objects.latest("id").id)
    return filled


@pytest.fixture
def auditor(db):
    return admin_client(staff("Auditor"))


class Content(HTMLParser):
    """The elements of a page's content: their names, attributes and texts."""

    def __init__(self, page):
        super().__init__()
        self.is_content = False
        self.elements = []
        self.feed(page.content.decode())

    def handle_starttag(self, tag, attrs):
        attributes = {name: value or "" for name, value in attrs}
        self.is_content = (self.is_content or attributes.get("id") == "content") and tag != "footer"
        if self.is_content:
            self.elements.append([tag, attributes, ""])

    def handle_data(self, data):
        if self.is_content:
            self.elements[-1][2] += data.strip()

    def all(self, *tags):
        return [(attributes, text) for tag, attributes, text in self.elements if tag in tags]


@pytest.mark.parametrize("path", SEEN)
def test_pages_open_and_offer_nothing_that_changes(rows, auditor, path):
    for address in (f"{path}/", f"{path}/{rows[DETAILS[path]]}/change/"):
        page = auditor.get(f"/admin/{address}")
        assert page.status_code == 200
        content = Content(page)
        offered = {attributes["value"] for attributes, _text in content.all("option")}
        assert offered <= (READING if path == "accounts/auditentry" else set())
        submits = [
            attributes["value"] for attributes, _text in content.all("input") if attributes.get("type") == "submit"
        ]
        buttons = {*submits, *(text for _attributes, text in content.all("button"))}
        assert buttons <= BUTTONS, address
        assert ("Go" in buttons) == bool(offered)
        writable = [
            attributes
            for attributes, _text in content.all("input", "textarea")
            if attributes.get("type") not in ("hidden", "submit")
            and attributes.get("id") not in KEPT_HERE
            and attributes.get("class") != "action-select"
        ]
        assert writable == []
        links = [attributes.get("href", "") for attributes, _text in content.all("a")]
        assert len(links) > 0 and not [link for link in links if "/add/" in link or "/delete/" in link]


def test_the_overview_leads_to_what_may_be_seen_alone(rows, auditor):
    page = auditor.get("/admin/")
    shown = {model["admin_url"] for group in page.context["app_list"] for model in group["models"]}
    assert shown == {f"/admin/{path}/" for path in SEEN}
    classes = {attributes.get("class") for attributes, _text in Content(page).all("a")}
    assert not classes & {"addlink", "changelink"}


def test_every_form_of_others_is_refused_and_changes_nothing(rows, auditor):
    sent = set()
    before = everything()

    def send(path, **fields):
        page = auditor.post(f"/admin/{path}", fields, follow=True)
        text = page.content.decode()
        # A list sends back to itself what it does not take: without a word of success and without the page that asks.
        assert page.status_code == 403 or (page.redirect_chain and page.status_code == 200), (path, fields)
        assert 'class="success"' not in text and "confirm-consequences" not in text, (path, fields)
        assert "what Ann wrote" not in text
        assert everything() == before, (path, fields)

    reveal = [(f"messaging/{model}", "reveal", {"reason": "curious"}) for model in ("message", "report")]
    people = [
        ("accounts/user", action, {"reason": "curious"}) for action in ("download_csv", "download_json", "export")
    ]
    walked = [(walk.model, walk.action, {"reason": "because", "resolution": "done"}) for walk in WALKS]
    for model, action, fields in [*walked, *reveal, *people]:
        key = rows[DETAILS[model]]
        for confirmed in ({}, {"confirmed": "1", **fields}):
            send(f"{model}/", action=action, _selected_action=key, index="0", **confirmed)
        sent.add((model, action))
    kept = {(model, action) for model, action in WITH_AN_ANSWER if model == "accounts/auditentry"}
    assert sent == registered_actions() - kept

    for path, row in DETAILS.items():
        key = rows[row]
        send(f"{path}/add/", name="x", reason="because", _save="Save")
        send(f"{path}/{key}/change/", is_staff="on", is_superuser="on", name="x", reason="because", _save="Save")
        send(f"{path}/{key}/delete/", post="yes")
        send(f"{path}/", action="delete_selected", _selected_action=key, post="yes", index="0")
    assert registered_forms() <= {(what, path) for what in ("add", "change") for path in DETAILS}
    # The page of the own second factor, while one exists.
    send("second-factor/", code="000000")


def test_the_api_treats_an_auditor_as_any_user(rows):
    """Staff's rights end at the support pages: with a token of the API an Auditor is a person."""
    login = {"email": "auditor.staff@example.com", "password": PASSWORD}
    token = ApiClient().post("/api/v1/auth/login", login)["token"]
    path = f"/api/v1/messages/conversations/{rows['conversation']}/messages"
    assert ApiClient(token).get(path, 404)["error"] == "conversation_not_found"
