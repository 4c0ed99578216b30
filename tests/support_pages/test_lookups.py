"""What the query strings of the support pages can find out: every registered page, every column it does not show."""

import os
import re
from itertools import product

import pytest
from django.contrib import admin
from django.contrib.admin.sites import AdminSite
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from accounts.staff.lookups import ShownColumnsOnly
from accounts.staff.site import StaffSite
from messaging.services import conversations, messages
from notifications.models import Delivery
from notifications.services.delivery import mail
from tests.staff import admin_client, staff

ROLES = ["Support", "Moderator", "Auditor", "Operations", None]
PATTERNS = ["__regex", "__startswith", "__contains", "__iexact", "__in", "__range"]
QUESTIONS = ["__gt", *PATTERNS, "", "__exact", "__isnull", "__year", "__date"]
REFUSED = (400, 403)
ODD_VALUES = [
    "", "(", "(a+)+$", "\x00", "null", "[1,2]", "1,2", "{}", "-1", "0", "9" * 19, "9" * 400, "1e999", "NaN", "٣", "%",
    "99999999", "99999999-01-01", "0000-00-00", "0001-01-01 00:00:00+14:00", "9999-12-31 23:59:59-14:00", "2026-02-30",
    "2026-13-01T99:99", "True", "None", "x" * 5000, "w " * 2000, "\U0001f600", "'",
]  # fmt: skip
# Each page gets each of these values; with FULL=1 with every lookup and action instead of one.
FULL = bool(os.environ.get("FULL"))
PAGES = [pytest.param(model, id=model._meta.label) for model in admin.site._registry]


def address(model) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def shown_by(page) -> set[str]:
    filters = {name if isinstance(name, str) else name[0] for name in page.list_filter if not isinstance(name, type)}
    return {page.opts.pk.name, *(name for name in page.list_display if isinstance(name, str)), *filters}


@pytest.fixture(params=ROLES, ids=lambda role: role or "superuser")
def role(request):
    return request.param


@pytest.fixture
def browser(role, db):
    return admin_client(staff(role, is_superuser=role is None))


@pytest.mark.once  # refused before the database is asked
@pytest.mark.parametrize("model", PAGES)
def test_columns_that_are_not_shown_cannot_be_asked_for(model, browser, role, rf):
    """The rule does not depend on the role: the one who sees every page asks every question, the others a few."""
    page, asked_by = admin.site._registry[model], rf.get(address(model))
    shown = shown_by(page)
    asks_all = role == "Auditor"

    def refuses(**query: str) -> None:
        assert browser.get(address(model), query).status_code in REFUSED, query

    for number, field in enumerate(model._meta.get_fields()):
        hidden = field.name not in shown
        name = getattr(field, "attname", field.name)
        questions = QUESTIONS if hidden else PATTERNS[:3]
        for question in questions if asks_all or FULL else [questions[number % 3]]:
            refuses(**{f"{name}{question}": "1"})
        if hidden and (asks_all or FULL):
            refuses(_to_field=field.name)
        for column in field.related_model._meta.get_fields() if field.related_model and asks_all else ():
            if field.name in shown and column.name == field.related_model._meta.pk.name:
                continue  # which row it is, is what the list shows
            for question in ("", "__gt", "__regex", "__startswith", "__contains"):
                assert not page.lookup_allowed(f"{field.name}__{column.name}{question}", "1", asked_by), column.name


@pytest.mark.once
@pytest.mark.parametrize("model", PAGES)
def test_lists_are_sorted_by_what_they_show(model, db, rf):
    page = admin.site._registry[model]
    user = staff(is_superuser=True)
    own = {str(name).lstrip("-") for name in page.ordering or model._meta.ordering}
    for index in range(len(page.list_display) + 2):
        request = rf.get(address(model), {"o": f"{index}.-{index}"})
        request.user = user
        order = {str(name).lstrip("-") for name in page.get_changelist_instance(request).queryset.query.order_by}
        assert order <= shown_by(page) | own | {"pk"}, index


@pytest.mark.once
@pytest.mark.parametrize("model", PAGES)
def test_searches_compare_whole_values_of_what_is_shown(model):
    page = admin.site._registry[model]
    if model is User:
        return  # a search of its own: prefixes of names and addresses, which the list shows
    for name in page.search_fields:
        assert name.startswith("="), name
        column, _, related = name.lstrip("=").partition("__")
        assert column in shown_by(page) | set(page.fields or ()), name
        assert related in ("", "id", "email"), name


@pytest.mark.parametrize("model", PAGES)
def test_shown_columns_are_filtered_by_value_and_range(model, db):
    browser = admin_client(staff(is_superuser=True))
    assert browser.get(address(model), {f"{model._meta.pk.name}": "1"}).status_code == 200
    for name in shown_by(admin.site._registry[model]):
        field = next((field for field in model._meta.get_fields() if field.name == name), None)
        kind = field.get_internal_type() if field else ""
        if kind == "DateTimeField":
            for question in ("gte", "lt"):
                assert (
                    browser.get(address(model), {f"{name}__{question}": "2026-01-01 00:00:00+00:00"}).status_code == 200
                )
        if kind == "ForeignKey":
            for question in ("", "__id", "_id", "__id__exact", "__exact"):
                assert browser.get(address(model), {f"{name}{question}": "1"}).status_code == 200, (name, question)
    filters = browser.get(address(model)).context["cl"]
    for spec in filters.filter_specs:
        for choice in spec.choices(filters):
            assert browser.get(address(model) + choice["query_string"]).status_code == 200, choice


@pytest.mark.parametrize("model", PAGES)
def test_odd_query_strings_are_answered(model, db):
    browser = admin_client(staff(is_superuser=True))
    browser.raise_request_exception = False
    parameters = [*sorted(shown_by(admin.site._registry[model])), "q", "o", "p", "all", "_popup", "status", "state"]
    for number, value in enumerate(ODD_VALUES):
        name = parameters[number % len(parameters)]
        queries = ({name: [value, "1"]}, {f"{name}__gte": value}, {f"{name}__regex": value}, {f"{name}[]": value})
        for query in queries if FULL else [queries[number % 4]]:
            answer = browser.get(address(model), query)
            assert answer.status_code in (200, 302, 400), query
    odd = (("", "9" * 400), ("__gte", "0001-01-01 00:00:00+14:00"), ("__exact", "("), ("__year", "9" * 8))
    for number, name in enumerate(parameters):
        for suffix, value in odd if FULL else [odd[number % 4]]:
            answer = browser.get(address(model), {f"{name}{suffix}": value})
            assert answer.status_code in (200, 302, 400), (name, suffix)


@pytest.mark.parametrize("model", PAGES)
def test_odd_rows_and_actions_are_answered(model, db):
    browser = admin_client(staff(is_superuser=True))
    browser.raise_request_exception = False
    actions = [*list(admin.site._registry[model].actions or ())[:2], "delete_selected", "nothing"]
    for number, value in enumerate(ODD_VALUES):
        if value and "\x00" not in value:
            row = browser.get(f"{address(model)}{value.replace('/', '_2F')}/change/")
            assert row.status_code in (200, 302, 400, 404), value
        for action in actions if FULL else [actions[number % len(actions)]]:
            done = browser.post(address(model), {"action": action, "_selected_action": value, "index": value})
            assert done.status_code in (200, 302, 400, 403), (action, value)


@pytest.mark.parametrize("model", PAGES)
def test_odd_values_in_forms_are_answered(model, alice):
    """Also of pages without a form, which refuse them."""
    user = staff(is_superuser=True)
    browser = admin_client(user)
    browser.raise_request_exception = False
    row = model._default_manager.exclude(pk=user.pk).first()
    for path in ("add/", f"{row.pk if row else 1}/change/"):
        context = browser.get(address(model) + path).context or {}
        fields = context["adminform"].form.fields if "adminform" in context else {}
        if not fields:
            assert browser.post(address(model) + path, {"id": "9" * 30}).status_code in (302, 403), path
        for name, value in product(fields, ODD_VALUES if FULL else ODD_VALUES[7:16]):
            form = {"name": "odd", "reason": "because", name: value}
            assert browser.post(address(model) + path, form).status_code in (200, 302), (path, name, value)


@pytest.mark.once
@pytest.mark.parametrize("model", PAGES)
def test_no_list_asks_its_table_for_the_values_that_are_there(model, db):
    browser = admin_client(staff(is_superuser=True))
    with CaptureQueriesContext(connection) as queries:
        assert browser.get(address(model)).status_code == 200
    assert not [query["sql"] for query in queries if "DISTINCT" in query["sql"].upper()]


@pytest.mark.parametrize(
    ("path", "column", "value", "name"),
    [
        ("accounts/user", "language", "de", "German"),
        ("accounts/code", "purpose", "action:delete_account", "action:delete_account"),
        ("accounts/auditentry", "action", "user.blocked", "User blocked"),
        ("notifications/delivery", "kind", "incoming_call", "Incoming call"),
    ],
)
def test_filters_offer_what_is_known(db, path, column, value, name):
    browser = admin_client(staff(is_superuser=True, language="de"))
    page = browser.get(f"/admin/{path}/", {column: value})
    offered = [choice for spec in page.context["cl"].filter_specs for choice in spec.choices(page.context["cl"])]
    assert [str(choice["display"]) for choice in offered if choice["selected"]].count(name) == 1
    assert page.context["cl"].result_count == (column == "language")


def test_a_key_with_a_nul_is_unknown(db):
    browser = admin_client(staff(is_superuser=True))
    for model in admin.site._registry:
        row = browser.get(f"{address(model)}%00/change/")
        assert (row.status_code, row.headers.get("Location")) == (302, "/admin/"), model


def test_every_registered_page_has_the_rule():
    assert all(isinstance(page, ShownColumnsOnly) for page in admin.site._registry.values())
    assert isinstance(admin.site, StaffSite)
    elsewhere, ours = AdminSite(), StaffSite()
    for site in (elsewhere, ours):
        site.register(ContentType)
    assert elsewhere._registry[ContentType].lookup_allowed("model__regex", "^a")
    assert not ours._registry[ContentType].lookup_allowed("model__regex", "^a")


def test_an_auditor_does_not_guess_what_was_written(alice, bob):
    conversation, _ = conversations.start(starter=alice, user_id=bob.id)
    messages.send(sender=alice, conversation_id=conversation.id, body="PIN is 4711 secret")
    auditor = admin_client(staff("Auditor"))
    assert auditor.get("/admin/messaging/message/", {"body__regex": "^P"}).status_code == 400
    assert auditor.get("/admin/messaging/message/", {"body__gt": "P"}).status_code == 400
    assert auditor.get("/admin/accounts/user/", {"password__regex": "^argon2"}).status_code == 400
    response = auditor.get("/admin/messaging/message/", {"q": "PIN is 4711 secret"})
    assert response.context["cl"].result_count == 0


def test_a_code_that_waits_can_be_read_by_the_worker_alone(alice, anonymous, settings):
    settings.EMAIL_BACKEND = "notifications.services.delivery.mail.QueueingEmailBackend"
    anonymous.post("/api/v1/auth/forgot-password", {"email": alice.email})
    row = Delivery.objects.get(recipient=alice, state="pending")
    with connection.cursor() as cursor:
        cursor.execute("SELECT payload FROM notifications_delivery WHERE id = %s", [row.id])
        stored = str(cursor.fetchone()[0])
    text = mail.decrypt(row.payload)["body"]
    code = re.search(r"\b\d{6}\b", text)[0]
    assert not {alice.email, alice.first_name, code} & set(re.findall(r"[\w.@]+", stored))
    page = admin_client(staff("Auditor")).get(f"/admin/notifications/delivery/{row.id}/change/").content.decode()
    assert code not in page and row.payload["sealed"] not in page
