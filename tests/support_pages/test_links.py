"""People, conversations and other rows that a support page names are links, for staff who may view them."""

import re
from html.parser import HTMLParser

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import ForeignKey

from accounts.models import User
from messaging.models import Conversation
from tests.browser.server_fixtures import fill
from tests.staff import admin_client, staff

pytestmark = pytest.mark.django_db


class Cells(HTMLParser):
    """The cells of a page by their class: what they say, and where their link leads."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.cells: list[tuple[str, str, str]] = []
        self.open = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if found := re.search(r"\b(?:field|fact)-(\w+)", attributes.get("class") or ""):
            self.open = found[1]
            self.cells.append((self.open, "", ""))
        elif tag == "a" and self.open:
            self.cells[-1] = (self.open, "", attributes.get("href") or "")

    def handle_endtag(self, tag):
        if tag in ("td", "th", "tr", "fieldset", "dd"):
            self.open = ""

    def handle_data(self, data):
        if self.open:
            name, text, path = self.cells[-1]
            self.cells[-1] = (name, (text + data).strip(), path)


def targets(page, row):
    """The column and the path of every row that a row names."""
    for column in {*page.list_display, *(page.fields or ())}:
        if column in page.links:
            label, key = page.links[column]
            model, key = label.lower().replace(".", "/"), getattr(row, key)
        else:
            field = next((field for field in page.opts.fields if field.name == column), None)
            if not isinstance(field, ForeignKey):
                continue
            model, key = field.related_model._meta.label_lower.replace(".", "/"), getattr(row, field.attname)
        if key is not None:
            yield column, f"/admin/{model}/{key}/change/"


@pytest.fixture
def filled(db):
    return fill()["rows"]


def pages_of(client):
    """Each list and the page of its first row, with that row."""
    for model, page in admin.site._registry.items():
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        shown = client.get(path)
        for row in list(shown.context["cl"].result_list)[:2]:
            yield page, row, shown.content.decode(), client.get(f"{path}{row.pk}/change/").content.decode()


def test_every_row_that_a_page_names_is_a_link(filled):
    client, walked = admin_client(staff(is_superuser=True)), set()
    for page, row, list_page, row_page in pages_of(client):
        in_list, on_page = Cells(list_page).cells, Cells(row_page).cells
        for column, path in targets(page, row):
            if column in page.list_display:
                assert path in [found for name, _text, found in in_list if name == column], (page, column)
            if column in (page.fields or ()):
                assert (column, path) in [(name, found) for name, _text, found in on_page], (page, column)
            walked.add(f"{page.opts.label_lower}.{column}")
    assert len(walked) > 25
    assert {
        "messaging.conversation.user_low", "messaging.message.sender", "messaging.message.conversation_number",
        "messaging.report.reported", "messaging.report.reporter", "notifications.delivery.recipient",
        "notifications.notification.target_id", "realtime.call.caller", "realtime.call.conversation_id",
        "accounts.session.user", "accounts.auditentry.actor_label",
    } <= walked  # fmt: skip


def test_a_link_of_a_list_opens(filled):
    client = admin_client(staff(is_superuser=True))
    page = client.get("/admin/messaging/message/").content.decode()
    paths = {path for _name, _text, path in Cells(page).cells if path}
    assert f"/admin/messaging/conversation/{filled['conversation']}/change/" in paths
    assert f"/admin/accounts/user/{filled['ann']}/change/" in paths
    assert {client.get(path).status_code for path in paths} == {200}


def test_names_stay_text_for_staff_who_may_not_view_the_rows(filled):
    group = Group.objects.get(name="Moderator")
    group.permissions.remove(*group.permissions.filter(codename__in=["view_user", "view_conversation"]))
    client = admin_client(staff("Moderator"))
    for model in ("messaging/message", "messaging/report"):
        row = client.get(f"/admin/{model}/").context["cl"].result_list[0]
        for path in ("", f"{row.pk}/change/"):
            page = client.get(f"/admin/{model}/{path}").content.decode()
            assert "Ann" in page or "ann" in page
            assert "/admin/accounts/user/" not in page and "/admin/messaging/conversation/" not in page


def test_sorting_by_a_linked_column_is_kept(filled):
    client = admin_client(staff(is_superuser=True))
    page = client.get("/admin/messaging/conversation/", {"o": "1"})
    assert page.context["cl"].queryset.query.order_by[0] == "user_low"
    assert Conversation.objects.count() == page.context["cl"].result_count
    assert re.search("<th[^>]*(column-user_low[^>]*sorted|sorted[^>]*column-user_low)", page.content.decode())


def test_the_panels_of_a_person_lead_to_the_others(filled):
    client = admin_client(staff(is_superuser=True))
    page = client.get(f"/admin/accounts/user/{filled['ben']}/change/").content.decode()
    assert f'<a href="/admin/accounts/user/{filled["ann"]}/change/">{User.objects.get(id=filled["ann"])}</a>' in page


def test_the_page_of_an_action_names_its_rows_as_links(filled):
    client = admin_client(staff("Support"))
    page = client.post("/admin/accounts/user/", {"action": "block", "_selected_action": [filled["ann"]]})
    assert f'<li><a href="/admin/accounts/user/{filled["ann"]}/change/">' in page.content.decode()
