"""The page of a user as the place of work, and the charts of the index page."""

import io
import json
import re
import zipfile
from datetime import timedelta

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditEntry, Block, Session, User
from accounts.services import account_status, audit, profile
from accounts.sign_in import trusted_devices
from accounts.staff import overview
from messaging.models import Message, Report
from messaging.selectors.messages import first_id_since
from messaging.services import conversations, messages, reports
from notifications.models import Delivery
from realtime.models import Call
from tests.factories import make_user, sign_in
from tests.staff import admin_client, staff

BUTTON = re.compile(r'<button type="submit" class="(button[^"]*)" name="action" value="(\w+)">')
LIST = "/admin/accounts/user/"


def page_of(user):
    return f"{LIST}{user.id}/change/"


def buttons(client, user):
    """The actions on the page, and which of them are red."""
    buttons = BUTTON.findall(client.get(page_of(user)).content.decode())
    return {name for _, name in buttons}, {name for style, name in buttons if "danger" in style}


def shown_panels(client, user):
    return [panel["name"] for panel in client.get(page_of(user)).context["panels"]]


@pytest.fixture
def history(alice, bob):
    """history(3): three more rows in each panel of Bob."""
    conversation, _ = conversations.start(starter=alice, user_id=bob.id)

    def add(number):
        for _ in range(number):
            sign_in(bob)
            trusted_devices.remember_device(user=bob, device_name="phone")
            profile.block(blocker=make_user("Dora"), blocked_id=bob.id)
            audit.record(action="user.unlocked", target=bob, reason="asked on the phone")
            message, _ = messages.send(sender=bob, conversation_id=conversation.id, body="hello")
            reports.report(reporter=alice, message_id=message.id, reason="spam")
            key = f"key-{Delivery.objects.count()}"
            Delivery.objects.create(
                channel="push", kind="test", recipient=bob, dedupe_key=key, expires_at=timezone.now(), last_error="gone"
            )

    return add


@pytest.mark.parametrize(
    ("role", "offered", "red", "seen"),
    [
        (
            "Support",
            {"block", "sign_out", "erase", "export"},
            {"block", "sign_out", "erase"},
            ["session", "trusteddevice", "block", "delivery", "auditentry"],
        ),
        ("Moderator", {"block"}, {"block"}, ["session", "trusteddevice", "block", "report", "auditentry"]),
        ("Auditor", set(), set(), ["session", "trusteddevice", "block", "report", "delivery", "auditentry"]),
        ("Operations", {"sign_out"}, {"sign_out"}, ["session", "trusteddevice", "block", "delivery", "auditentry"]),
    ],
)
def test_a_role_sees_its_buttons_and_panels(bob, role, offered, red, seen):
    client = admin_client(staff(role))
    assert buttons(client, bob) == (offered, red)
    assert shown_panels(client, bob) == seen


def test_buttons_fit_the_state_of_the_account(db):
    client = admin_client(staff("Support"))
    person = make_user("Vera", verified=False, second_password="argon2$never-compared", wrong_passwords=5)
    User.objects.filter(id=person.id).update(blocked_at=timezone.now())
    assert buttons(client, person)[0] >= {"unblock", "unlock", "resend_code", "reset_two_step"}


def test_an_erased_account_is_called_so(alice, bob):
    client = admin_client(staff("Support"))
    unconfirmed = make_user("Vera", verified=False)
    account_status.erase(user=bob, actor="test")
    listed = {
        status: {user.id for user in client.get(LIST, {"status": status}).context["cl"].result_list}
        for status in ("unverified", "leaving")
    }
    assert listed == {"unverified": {unconfirmed.id}, "leaving": set()}
    page = client.get(LIST, {"q": str(bob.id)}).content.decode()
    assert '<td class="field-status">erased</td>' in page
    assert "Erased at" in client.get(page_of(bob)).content.decode()


def test_wrong_second_passwords_are_shown_and_unlocked(db):
    client = admin_client(staff("Support"))
    person = make_user("Vera", second_password="argon2$never-compared", wrong_second_passwords=10)
    User.objects.filter(id=person.id).update(wrong_second_passwords_day=timezone.now().date())
    assert "unlock" in buttons(client, person)[0]
    assert "Wrong second passwords today" in client.get(page_of(person)).content.decode()
    form = {"action": "unlock", "_selected_action": [person.id], "confirmed": "1", "reason": "called", "from_row": "1"}
    assert "Done: Unlock – " in client.post(LIST, form, follow=True).content.decode()
    assert "unlock" not in buttons(client, person)[0]
    assert AuditEntry.objects.filter(action="user.unlocked").count() == 1


def test_a_button_asks_acts_and_returns_to_the_user(bob):
    client = admin_client(staff("Support"))
    session, _ = sign_in(bob)
    form = {"action": "block", "_selected_action": [bob.id], "index": "0", "from_row": "1"}
    page = client.post(LIST, form).content.decode()
    assert "All sessions end immediately" in page
    assert 'class="danger"' in page
    assert f'href="{page_of(bob)}"' in page  # Cancel
    done = client.post(LIST, form | {"confirmed": "1", "reason": "spam"})
    assert done.headers["Location"] == page_of(bob)
    assert Session.objects.get(id=session.id).ended_reason == "blocked"
    assert AuditEntry.objects.get(action="user.blocked").reason == "spam"
    page = client.get(page_of(bob)).content.decode()
    assert "user.blocked" in page and "Done: Block – " in page


def exported(client, user):
    """The archive that the button of this staff member gives."""
    form = {"action": "export", "_selected_action": [user.id], "index": "0", "from_row": "1"}
    assert "Messages are in it only if you may reveal them." in client.post(LIST, form).content.decode()
    answer = client.post(LIST, form | {"confirmed": "1", "reason": "asked by letter"})
    assert answer.headers["Content-Disposition"] == f'attachment; filename="parley-{user.username}.zip"'
    assert "no-store" in answer.headers["Cache-Control"]
    with zipfile.ZipFile(io.BytesIO(answer.getvalue())) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_the_export_is_the_archive_of_the_person(alice, bob, history):
    history(1)
    files = exported(admin_client(staff(is_superuser=True)), bob)
    assert json.loads(files["account/profile.json"])["email"] == bob.email
    assert "hello" in "".join(text for name, text in files.items() if name.startswith("messages/"))
    entry = AuditEntry.objects.get(action="user.exported")
    assert (entry.target_id, entry.reason) == (bob.id, "asked by letter")


def test_who_may_not_reveal_messages_exports_none(alice, bob, history):
    history(1)
    files = exported(admin_client(staff("Support")), bob)
    assert {name.partition("/")[0] for name in files} == {"account", "notifications", "calls"}
    assert "hello" not in "".join(files.values())


def test_the_archive_is_of_one_person(alice, bob):
    client = admin_client(staff("Support"))
    form = {"action": "export", "_selected_action": [alice.id, bob.id], "index": "0", "confirmed": "1", "reason": "x"}
    assert "Please select only 1 row." in client.post(LIST, form, follow=True).content.decode()
    assert not AuditEntry.objects.filter(action="user.exported").exists()


def test_facts_actions_and_panels_come_before_the_form(bob):
    page = admin_client(staff("Support")).get(page_of(bob)).content.decode()
    places = [page.index(part) for part in ('class="facts"', 'class="row-actions"', 'class="panel', 'id="user_form"')]
    assert places == sorted(places)
    facts = page[places[0] : places[1]]
    assert bob.email in facts and "active" in facts


def test_a_button_of_another_role_is_refused(bob):
    client = admin_client(staff("Operations"))
    form = {"action": "erase", "_selected_action": [bob.id], "index": "0", "from_row": "1"}
    assert client.post(LIST, form | {"confirmed": "1", "reason": "spam"}).status_code == 403
    assert User.objects.get(id=bob.id).erased_at is None


def test_panels_are_bounded_and_take_the_same_queries(bob, history):
    client = admin_client(staff("Auditor"))

    def opened():
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(page_of(bob))
        return len(queries), {panel["name"]: len(panel["rows"]) for panel in answer.context["panels"]}

    history(1)
    one, rows = opened()
    assert set(rows.values()) == {1}
    history(overview.ROWS_SHOWN + 1)
    many, rows = opened()
    assert many == one
    assert set(rows.values()) == {overview.ROWS_SHOWN}


def test_panels_show_columns_of_the_lists_only(db):
    pages = [page for page in admin.site._registry.values() if getattr(page, "panel", None)]
    assert len(pages) == 6
    for page in pages:
        assert set(page.panel.columns) <= {*page.list_display, *(page.fields or ())}, page.model


def test_the_index_page_starts_with_the_tasks_of_support(db):
    groups = admin_client(staff("Auditor")).get("/admin/").context["app_list"]
    assert [group["app_label"] for group in groups] == ["people", "reports", "calls", "delivery", "records"]
    assert [group["models"][0]["object_name"] for group in groups[:2]] == ["User", "Report"]


@pytest.mark.parametrize(
    ("role", "hidden"),
    [
        ("Support", {"/admin/messaging/report/?state__exact=open"}),
        (
            "Moderator",
            {
                "/admin/notifications/delivery/?state__exact=pending",
                "/admin/notifications/delivery/?state__exact=dead",
            },
        ),
        ("Auditor", set()),
        ("Operations", {"/admin/messaging/report/?state__exact=open"}),
    ],
)
def test_the_figures_lead_to_lists_that_may_be_seen(db, role, hidden):
    client = admin_client(staff(role))
    shown = {figure["path"] for figure in client.get("/admin/").context["overview"]}
    assert {client.get(path).status_code for path in shown} == {200}
    assert {client.get(path).status_code for path in hidden} <= {403}
    everything = admin_client(staff(is_superuser=True)).get("/admin/").context["overview"]
    assert {figure["path"] for figure in everything} - shown == hidden


def test_the_figures_stand_in_the_order_of_the_lists(db):
    context = admin_client(staff(is_superuser=True)).get("/admin/").context
    lists = [row["admin_url"] for group in context["app_list"] for row in group["models"]]
    at = [lists.index(figure["path"].partition("?")[0]) for figure in context["overview"]]
    assert at == sorted(at)


def test_charts_count_by_day_and_series_with_one_query_each(alice, bob):
    now = timezone.now()
    User.objects.filter(id=alice.id).update(created_at=now - timedelta(days=3))
    User.objects.filter(id=bob.id).update(created_at=now - timedelta(days=40))
    conversation, _ = conversations.start(starter=alice, user_id=bob.id)
    for age in (31, 2, 2, 0):
        message, _ = messages.send(sender=alice, conversation_id=conversation.id, body="hello")
        Message.objects.filter(id=message.id).update(created_at=now - timedelta(days=age))
    ended = {"state": "ended", "ended_at": now, "expires_at": now, "conversation_id": conversation.id}
    for outcome in ("missed", "missed", "completed"):
        Call.objects.create(caller=alice, callee=bob, media="audio", outcome=outcome, **ended)
    Delivery.objects.filter().delete()
    for number, state in enumerate(("sent", "dead")):
        Delivery.objects.create(
            channel="push", kind="test", dedupe_key=str(number), state=state, expires_at=now, finished_at=now
        )
    audit.record(action="user.locked", target=bob)
    client = admin_client(staff("Auditor"))
    with CaptureQueriesContext(connection) as first:
        charts = {chart["name"]: chart for chart in client.get("/admin/").context["charts"]}
    with CaptureQueriesContext(connection) as second:
        assert client.get("/admin/").status_code == 200
    assert {name: chart["total"] for name, chart in charts.items()} == {
        "sign-ups": 2,  # Alice and the Auditor
        "messages": 3,
        "calls": 3,
        "deliveries": 2,
        "lock-outs": 1,
    }
    series = {str(row["label"]): row["total"] for row in charts["calls"]["series"]}
    assert (series["missed"], series["completed"]) == (2, 1)
    days = {row["day"]: row["numbers"] for row in charts["messages"]["table"]}
    assert len(days) == 30
    assert days[(now - timedelta(days=2)).date().isoformat()] == [2]
    grouped = [query["sql"] for query in first if "GROUP BY" in query["sql"]]
    assert len(grouped) == 10  # finished days and the current one
    assert not [query["sql"] for query in second if "GROUP BY" in query["sql"]]


def test_charts_are_drawn_without_any_data_and_only_for_who_may_see_them(db):
    User.objects.update(created_at=timezone.now() - timedelta(days=60))
    answer = admin_client(staff("Support", created_at=timezone.now() - timedelta(days=60))).get("/admin/")
    assert {chart["total"] for chart in answer.context["charts"]} == {0}
    assert answer.content.decode().count("<svg viewBox") == 5


def test_the_first_message_of_a_time_is_found_by_the_primary_key(alice, bob):
    conversation, _ = conversations.start(starter=alice, user_id=bob.id)
    now = timezone.now()
    sent = [messages.send(sender=alice, conversation_id=conversation.id, body="hello")[0].id for _ in range(20)]
    for age, message_id in zip(range(20, 0, -1), sent, strict=True):
        Message.objects.filter(id=message_id).update(created_at=now - timedelta(days=age))
    assert first_id_since(now - timedelta(days=100)) <= sent[0]
    assert sent[9] < first_id_since(now - timedelta(days=10, hours=1)) <= sent[10]
    assert first_id_since(now) > sent[-1]


def test_search_boxes_say_what_they_search(db):
    client = admin_client(staff(is_superuser=True))
    for model, page in admin.site._registry.items():
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        text = client.get(path).content.decode()
        assert ("searchbar_helptext" in text) == bool(page.get_search_fields(None)), path
    assert "e-mail address" in admin.site.get_model_admin(Report).search_help_text
    assert "blocked" in admin.site.get_model_admin(Block).search_help_text.lower()


def test_times_name_their_zone(bob):
    page = admin_client(staff("Support")).get(page_of(bob)).content.decode()
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", page)


def test_an_erased_account_has_no_buttons_and_takes_no_action(bob):
    client = admin_client(staff("Support"))
    account_status.erase(user=bob, actor="test")
    assert buttons(client, bob) == (set(), set())
    for action in ("block", "sign_out", "erase", "export", "unlock", "resend_code"):
        form = {"action": action, "_selected_action": [bob.id], "confirmed": "1", "reason": "x", "from_row": "1"}
        page = client.post(LIST, form, follow=True).content.decode()
        assert "This account has already been erased." in page, action
    assert AuditEntry.objects.exclude(action="admin.signed_in").get().action == "user.erased"
