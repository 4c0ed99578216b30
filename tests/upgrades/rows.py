"""Fills the database of an installation with a row of every kind, and reads it through the API.

    python -m tests.upgrades.rows REPLIES.json

`devtools.releases` runs it for the record of a release, in an installation's environment. Alice and Bob are users
who go on using the service after the upgrade.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.integrations.receiving import SECRET

EVENT_KEY = "a-signing-key-of-at-least-32-bytes"
ENVIRONMENT = {
    "DEBUG": "1",
    "RATELIMIT_ENABLE": "0",
    "EVENT_SOURCES": f"blog:{EVENT_KEY}:*",
    "IDENTITY_AUDIENCES": "shop",
    "WEBHOOKS": f"shop|https://shop.example.com/events|{SECRET}|account.*",
}
ALICE = {"email": "alice@example.com", "password": "eight small boats"}
BOB = {"email": "bob@example.com", "password": "nine quiet rivers"}
# What Alice reads before and after an upgrade.
PATHS = (
    "profile",
    "profile/privacy",
    "profile/blocks",
    "messages/conversations?limit=30",
    "messages/conversations/{conversation}",
    "messages/conversations/{conversation}/messages?limit=50",
    "messages/conversations/{conversation}/search?q=harbour",
    "messages/users?q=bob",
    "notifications?limit=20",
    "notifications/preferences",
    "notifications/unread-count",
    "calls?limit=30",
)


def fill() -> None:
    """The story of the reference, then what it leaves empty."""
    from django.contrib.auth.models import Permission
    from django.utils import timezone

    from accounts.models import NetworkLock, RateCount, User
    from integrations.models import WebhookTarget
    from notifications.models import ChannelPause
    from tests.accounts.steps import SECOND, enable_two_step
    from tests.client import ApiClient
    from tests.reference.story import Story
    from tests.staff import staff

    Story().tell()
    for login in (ALICE, BOB):
        user = User.objects.get(email=login["email"])
        user.set_password(login["password"])
        user.save(update_fields=["password"])
    alice, bob = (ApiClient(ApiClient().post("/api/v1/auth/login", login)["token"]) for login in (ALICE, BOB))
    for client, name in ((alice, "alice"), (bob, "bob")):
        client.post("/api/v1/profile/push-token", {"token": f"fcm-of-{name}", "platform": "android", "device_id": name})
    chat = f"/api/v1/messages/conversations/{conversation_with_bob(alice.get('/api/v1/messages/conversations'))}"
    for text in ("See you at the harbour.", "Or at the old mill?"):
        sent = bob.post(f"{chat}/messages", {"body": text, "client_id": text.split()[-1][:-1]}, status=201)["message"][
            "id"
        ]
    bob.patch(f"/api/v1/messages/messages/{sent}", {"body": "Or at the old mill, at ten?"})
    alice.post(f"/api/v1/messages/messages/{sent}/reactions", {"emoji": "👍"})
    charlie = User.objects.get(first_name="Charlie")
    alice.post("/api/v1/profile/blocks", {"user_id": charlie.id})
    enable_two_step(bob, user)
    reply = ApiClient().post("/api/v1/auth/login", BOB)
    ApiClient(reply["two_step_token"]).post("/api/v1/auth/two-step", {"password": SECOND, "remember": True})
    ApiClient().post("/api/v1/auth/login", {"email": "who@example.com", "password": "is this one right"}, status=401)
    agent = staff("Support")
    agent.user_permissions.add(Permission.objects.get(codename="view_report"))
    now = timezone.now()
    NetworkLock.objects.create(user=user, network="203.0.113.0/24", locked_until=now)
    RateCount.objects.create(key="0" * 32, window_starts_at=now)
    ChannelPause.objects.create(channel="webhook:shop", reason="answered 503", until=now)
    WebhookTarget.objects.get_or_create(name="shop")


def conversation_with_bob(reply: Any) -> int:
    return next(row["id"] for row in reply["conversations"] if row["other_user"]["first_name"] == "Bob")


def replies(get: Any) -> dict[str, Any]:
    """What Alice reads; `get` answers a path below `/api/v1/` with a body."""
    conversation = conversation_with_bob(get("messages/conversations?limit=30"))
    return {path: get(path.format(conversation=conversation)) for path in PATHS}


def main() -> None:
    os.environ.update(ENVIRONMENT)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.test.utils import setup_test_environment

    setup_test_environment(debug=True)
    settings.ALLOWED_HOSTS = ["*"]
    fill()
    from tests.client import ApiClient

    alice = ApiClient(ApiClient().post("/api/v1/auth/login", ALICE)["token"])
    read = replies(lambda path: alice.get(f"/api/v1/{path}"))
    Path(sys.argv[1]).write_text(json.dumps(read, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
