"""An Auditor sees everything and changes nothing: by what the pages offer, and by what the server accepts."""

import pytest

from tests.browser.chromium import needs_chromium
from tests.browser.server_fixtures import PASSWORD
from tests.browser.staff import registered_actions, registered_forms
from tests.browser.test_admin_actions import WALKS, WITH_AN_ANSWER
from tests.browser.test_admin_pages import DETAILS

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(180)]

# Who is staff, and with what rights, is a matter of superusers.
UNSEEN = {"auth/group", "otp_static/staticdevice", "otp_totp/totpdevice"}
SEEN = sorted(set(DETAILS) - UNSEEN)
READING = {"", "download_csv", "download_json"}  # of the audit log, which holds nothing but what staff did
# What the page sends that a form of Support, Moderator or Operations would send; the answer and where it led.
SEND = """async ([path, fields]) => {
    const form = new URLSearchParams(fields);
    form.append("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
    const answer = await fetch(path, {method: "POST", body: form, redirect: "follow"});
    return [answer.status, answer.redirected, await answer.text()];
}"""
REFUSED = 403


@pytest.fixture(scope="module")
def auditor(page_of, staff_server):
    signed_in = page_of("auditor")
    staff_server.rows["audit entry"] = str(staff_server.newest_audit_id())
    return signed_in


@pytest.mark.parametrize("path", SEEN)
def test_pages_open_and_offer_nothing_that_changes(auditor, staff_server, path):
    page, complaints = auditor
    complaints.clear()
    for address in (f"{path}/", f"{path}/{staff_server.rows[DETAILS[path]]}/change/"):
        assert page.goto(f"{staff_server.base}/admin/{address}").status == 200
        content = page.locator("#content")
        offered = {option.get_attribute("value") for option in content.locator("[name=action] option").all()}
        assert offered <= (READING if path == "accounts/auditentry" else set())
        buttons = {
            button.inner_text() or button.get_attribute("value") for button in content.get_by_role("button").all()
        }
        assert buttons <= {"Search", "Go", "Close"}, address
        assert ("Go" in buttons) == bool(offered)
        # The name of a saved filter stays in the browser.
        kept_here = "[type=hidden], [type=search], [type=submit], .action-select, #action-toggle, #filter-name"
        writable = f"input:not({kept_here}), textarea"
        assert content.locator(writable).count() == 0
        links = [link.get_attribute("href") for link in content.get_by_role("link").all()]
        assert not [link for link in links if "/add/" in link or "/delete/" in link]
    assert complaints == []


def test_the_overview_leads_to_what_may_be_seen_alone(auditor, staff_server):
    page, complaints = auditor
    complaints.clear()
    page.goto(f"{staff_server.base}/admin/")
    shown = {link.get_attribute("href") for link in page.locator("#content .module th a").all()}
    assert {f"/admin/{path}/" for path in SEEN} == shown
    assert page.locator("#content .addlink, #content .changelink").count() == 0
    assert complaints == []


def test_every_form_of_others_is_refused_and_changes_nothing(auditor, staff_server):
    page, _ = auditor
    page.goto(f"{staff_server.base}/admin/")
    sent = set()
    before = staff_server.everything()

    def send(path, **fields):
        status, redirected, text = page.evaluate(SEND, [f"/admin/{path}", [list(pair) for pair in fields.items()]])
        # A list sends back to itself what it does not take: without a word of success and without the page that asks.
        assert status == REFUSED or (redirected and status == 200), (path, fields, status)
        assert 'class="success"' not in text and "confirm-consequences" not in text, (path, fields)
        assert "what Ann wrote" not in text
        assert staff_server.everything() == before, (path, fields)

    reveal = [(f"messaging/{model}", "reveal", {"reason": "curious"}) for model in ("message", "report")]
    people = [
        ("accounts/user", action, {"reason": "curious"}) for action in ("download_csv", "download_json", "export")
    ]
    walked = [(walk.model, walk.action, {"reason": "because", "resolution": "done"}) for walk in WALKS]
    for model, action, fields in [*walked, *reveal, *people]:
        key = staff_server.rows[DETAILS[model]]
        for confirmed in ({}, {"confirmed": "1", **fields}):
            send(f"{model}/", action=action, _selected_action=key, index="0", **confirmed)
        sent.add((model, action))
    kept = {(model, action) for model, action in WITH_AN_ANSWER if model == "accounts/auditentry"}
    assert sent == registered_actions() - kept

    for path, row in DETAILS.items():
        key = staff_server.rows[row]
        send(f"{path}/add/", name="x", reason="because", _save="Save")
        send(f"{path}/{key}/change/", is_staff="on", is_superuser="on", name="x", reason="because", _save="Save")
        send(f"{path}/{key}/delete/", post="yes")
        send(f"{path}/", action="delete_selected", _selected_action=key, post="yes", index="0")
    assert registered_forms() <= {(what, path) for what in ("add", "change") for path in DETAILS}
    # The page of the own second factor, while one exists.
    send("second-factor/", code="000000")


def test_the_api_treats_an_auditor_as_any_user(auditor, staff_server):
    """Staff's rights end at the support pages: with a token of the API an Auditor is a person."""
    page, _ = auditor
    page.goto(f"{staff_server.base}/admin/")
    login = {"email": "auditor.staff@example.com", "password": PASSWORD}
    body = page.evaluate(
        """async login => {
            const headers = {"Content-Type": "application/json"};
            const answer = await fetch("/api/v1/auth/login", {method: "POST", headers, body: JSON.stringify(login)});
            const {token} = await answer.json();
            const path = "/api/v1/messages/conversations/1/messages";
            return await (await fetch(path, {headers: {Authorization: `Bearer ${token}`}})).json();
        }""",
        login,
    )
    assert body["error"] == "conversation_not_found"
