"""The support pages in languages of other scripts: what stands there in Latin letters is data, not our words."""

import html
import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import AuditEntry, User
from accounts.staff.site import BACKEND
from accounts.staff.users import PurposeFilter
from integrations.kinds import EVENT_TYPES
from messaging.services import conversations, messages, reports
from notifications.kinds import DELIVERY_NAMES
from tests.staff import admin_client, staff

pytestmark = pytest.mark.once

UNREAD = re.compile(
    r'(?s)<(script|style)\b.*?</\1>|<input type="hidden"[^>]*>|<option value=[^>]*>|(?<=name="action" )value="[^"]*"'
)
READ = re.compile(r'(?:alt|title|placeholder|aria-label|value)="([^"]*)"|>([^<>]+)<')
# What has the same name everywhere.
NAMES = ("Parley", "push", "Push", "Webhook", "UTC", "CSV", "JSON")
# The id of a request, the key of a second factor.
RANDOM = r"\b[0-9a-f]{16}\b|\b[A-Z2-7]{32}\b"
# What a whole cell may say: codes, and what Django calls the icons of yes and no.
CODES = {
    "Android",
    "iOS",
    "spam",
    "test",
    "tests",
    "True",
    "False",
    *DELIVERY_NAMES,
    *PurposeFilter.known(),
    *EVENT_TYPES,
}


def latin(page: str) -> set[str]:
    """The texts of a page, for eyes or ears, that have a word in Latin letters; data apart."""
    people = [
        text for row in User.objects.values_list("email", "username", "first_name", "last_name") for text in row if text
    ]
    groups = Group.objects.values_list("name", flat=True)
    apps = TOTPDevice.objects.values_list("name", flat=True)
    known = re.compile("|".join([*map(re.escape, [*people, *groups, *apps, *NAMES]), RANDOM]))
    texts = {html.unescape(one or other).strip() for one, other in READ.findall(UNREAD.sub("", page))}
    texts -= CODES | set(AuditEntry.objects.values_list("action", flat=True))
    # A cell with braces is JSON: the snapshot of a report.
    return {text for text in texts if text[:1] != "{" and re.search(r"[A-Za-z]{3}", known.sub("", text))}


@pytest.fixture
def filled_lists(alice, bob, as_bob):
    """A row in most lists."""
    conversation, _ = conversations.start(starter=alice, user_id=bob.id)
    message, _ = messages.send(sender=alice, conversation_id=conversation.id, body="…")
    reports.report(reporter=bob, message_id=message.id, reason="spam")
    as_bob.post("/api/v1/profile/push-token", {"token": "0123456789-0123456789"})
    as_bob.post("/api/v1/notifications/test-push")


def pages(language: str) -> dict[str, str]:
    """The ways in, and every list with its first row and its actions."""
    client = admin_client(staff(is_superuser=True))
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = language
    newcomer = Client(headers={"Accept-Language": language})
    pages = {"sign-in": newcomer.get("/admin/login/")}
    newcomer.force_login(staff(), backend=BACKEND)
    pages["second factor"] = newcomer.get("/admin/second-factor/")
    for model, page in admin.site._registry.items():
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        pages[path] = client.get(path)
        if row := model._default_manager.first():
            pages["a row of " + path] = client.get(f"{path}{row.pk}/change/")
            for name in page.actions or ():
                answer = client.post(path, {"action": name, "_selected_action": [row.pk]})
                if answer["Content-Type"].startswith("text/html"):
                    pages[f"{name} on {path}"] = answer
    return {name: answer.content.decode() for name, answer in pages.items()}


@pytest.mark.parametrize("language", ["ru", "uk", "ar", "zh-hans"])
def test_no_support_page_has_english_of_ours(filled_lists, language):
    read = pages(language)
    assert len(read) > 35
    for name, page in read.items():
        assert f'<html lang="{language}" dir="{"rtl" if language == "ar" else "ltr"}"' in page, name
        assert latin(page) == set(), name
