"""Alice and Bob use every operation of the API once. Charlie is the user who gets blocked."""

import base64
import hashlib
import hmac
import json
import time
from io import BytesIO

from django.core import mail
from PIL import Image

from tests.accounts.steps import SECOND, last_code
from tests.client import ApiClient
from tests.integrations.server import make_key
from tests.realtime.phones import phone_of, start_call
from tests.reference.recorder import Recorder

EVENT_KEY = "a-signing-key-of-at-least-32-bytes"
PASSWORD = "seven tall trees"


def photo():
    file = BytesIO()
    Image.new("RGB", (640, 320), "teal").save(file, "JPEG")
    file.seek(0)
    file.name = "photo.jpg"
    return file


class Story:
    def __init__(self) -> None:
        self.book = Recorder()
        self.record = self.book.record

    def tell(self) -> dict:
        """Run the whole story. Returns the recorded examples by operation."""
        alice, bob, charlie = (self.sign_up(name, last) for name, last in PEOPLE)
        self.profile(alice, charlie)
        chat = self.conversation(alice, bob)
        self.notifications(alice, bob)
        self.calls(alice, bob, chat)
        self.own_server(alice, bob)
        self.two_step(alice)
        self.account(alice, bob, charlie)
        return self.book.examples

    def sign_up(self, first, last):
        anonymous = ApiClient()
        email = f"{first.lower()}@example.com"
        data = {"first_name": first, "last_name": last, "email": email, "password": PASSWORD, "language": "en"}
        self.record(anonymous, "auth_signup", "auth/signup", data, status=201)
        self.record(anonymous, "auth_resend_otp", "auth/resend-otp", {"email": email})
        code = last_code(email)
        body = self.record(anonymous, "auth_verify", "auth/verify", {"email": email, "code": code})
        client = ApiClient(body["token"])
        client.user = type("Known", (), {"id": body["user"]["id"], "email": email})()
        return client

    def profile(self, alice, charlie):
        self.record(alice, "auth_me", "auth/me")
        self.record(alice, "profile_get", "profile")
        self.record(alice, "profile_update", "profile", {"bio": "Gardener. Plays the cello."})
        self.record(alice, "profile_avatar_set", "profile/avatar", form={"file": photo()})
        self.record(alice, "profile_avatar_remove", "profile/avatar")
        self.record(alice, "profile_privacy_get", "profile/privacy")
        self.record(alice, "profile_privacy_set", "profile/privacy", {"read_receipts": False})
        alice.put("/api/v1/profile/privacy", {"read_receipts": True})
        self.record(alice, "profile_blocks_add", "profile/blocks", {"user_id": charlie.user.id}, status=200)
        self.record(alice, "profile_blocks_list", "profile/blocks")
        self.record(alice, "profile_blocks_remove", f"profile/blocks/{charlie.user.id}")
        push = {"token": "fcm-registration-token", "platform": "android", "device_id": "pixel-9", "locale": "en"}
        self.record(alice, "profile_push_token_set", "profile/push-token", push)
        self.record(alice, "notifications_test_push", "notifications/test-push")
        self.record(alice, "profile_push_token_remove", "profile/push-token", {"token": push["token"]})

    def conversation(self, alice, bob):
        self.record(alice, "messages_search_users", "messages/users?q=bob")
        self.record(alice, "messages_get_user", f"messages/users/{bob.user.id}")
        start = {"user_id": bob.user.id}
        body = self.record(
            alice, "messages_start_conversation", "messages/conversations", start, status=201, name="new"
        )
        chat = body["conversation"]["id"]
        self.record(alice, "messages_start_conversation", "messages/conversations", start, name="existing")
        conversation_path = f"messages/conversations/{chat}"
        text = {"body": "Hello Bob!", "client_id": "a1b2c3"}
        body = self.record(alice, "messages_send", f"{conversation_path}/messages", text, status=201, name="text")
        sent = body["message"]["id"]
        self.record(alice, "messages_send", f"{conversation_path}/messages", text, name="repeated")
        reply = {"body": "Hello Alice!", "reply_to_id": sent, "client_id": "d4e5f6"}
        self.record(bob, "messages_send", f"{conversation_path}/messages", reply, status=201, name="reply")
        form = {"file": photo(), "body": "The harbour", "client_id": "g7h8i9"}
        image = self.record(alice, "messages_send_image", f"{conversation_path}/media", form=form, status=201)[
            "message"
        ]
        form["file"] = photo()
        self.record(alice, "messages_send_image", f"{conversation_path}/media", form=form, name="repeated")
        self.record(bob, "media_get", image["media_url"].removeprefix("/api/v1/"))
        self.record(bob, "media_get_thumb", image["media"]["thumb_url"].removeprefix("/api/v1/"))
        message = f"messages/messages/{sent}"
        self.record(alice, "messages_edit", message, {"body": "Hello Bob, how are you?"})
        self.record(bob, "messages_react", f"{message}/reactions", {"emoji": "👍"})
        self.record(alice, "messages_get_conversation", conversation_path)
        self.record(alice, "messages_list_conversations", "messages/conversations?limit=30")
        self.record(alice, "messages_list", f"{conversation_path}/messages?limit=50")
        self.record(alice, "messages_search_inside", f"{conversation_path}/search?q=hello")
        self.record(alice, "messages_search_everywhere", "messages/search?q=hello")
        self.record(bob, "messages_mark_read", f"{conversation_path}/read", {})
        self.record(bob, "messages_unreact", f"{message}/reactions", {"emoji": "👍"})
        self.record(
            bob, "messages_report", f"{message}/report", {"reason": "spam", "comment": "Sent to everyone."}, status=201
        )
        self.record(alice, "messages_delete", message)
        self.record(bob, "messages_clear_conversation", f"{conversation_path}/clear", {})
        self.record(bob, "realtime_changes", "realtime/changes?since=0&limit=2")
        self.record(ApiClient(), "realtime_schema", "realtime/schema")
        return chat

    def notifications(self, alice, bob):
        event = {
            "event_id": "like-1001", "type": "post_like", "recipient_id": alice.user.id, "actor_id": bob.user.id,
            "target": {"id": 7, "title": "Sunday at the harbour"},
        }  # fmt: skip
        self.event("one", event)
        follow = event | {"event_id": "follow-1", "type": "follow"}
        del follow["target"]
        self.event(
            "several", {"events": [event | {"event_id": "like-1002", "target": {"id": 8, "title": "Tea"}}, follow]}
        )
        feed = self.record(alice, "notifications_list", "notifications?limit=20")
        self.record(alice, "notifications_unread_count", "notifications/unread-count")
        first, second = (row["id"] for row in feed["notifications"][:2])
        self.record(alice, "notifications_read", f"notifications/{first}/read")
        self.record(alice, "notifications_delete", f"notifications/{second}")
        self.record(alice, "notifications_read_all", "notifications/read-all")
        body = self.record(alice, "notifications_preferences", "notifications/preferences")
        switches = body["preferences"] | {"likes": False}
        self.record(alice, "notifications_preferences_set", "notifications/preferences", switches)
        self.record(alice, "notifications_preferences_change", "notifications/preferences", {"likes": True})

    def event(self, name, data):
        body = json.dumps(data).encode()
        moment = str(int(time.time()))
        digest = hmac.new(EVENT_KEY.encode(), b"msg_1." + moment.encode() + b"." + body, hashlib.sha256).digest()
        headers = {
            "webhook-id": "msg_1",
            "webhook-timestamp": moment,
            "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
        }
        client = ApiClient(**headers)
        self.record(client, "notifications_events", "notifications/events", data, status=202, name=name)

    def calls(self, alice, bob, chat):
        from accounts.models import User

        phones = [phone_of(User.objects.get(pk=client.user.id)) for client in (alice, bob)]
        call = start_call(*phones, chat, "ringing")
        self.record(bob, "calls_ice_servers", f"calls/{call}/ice-servers")
        self.record(bob, "calls_get", f"calls/{call}")
        self.record(bob, "calls_decline", f"calls/{call}/decline", {"reason": "busy"})
        self.record(bob, "calls_list", "calls?limit=30")

    def own_server(self, alice, bob):
        self.record(alice, "auth_identity_token", "auth/identity-token", {"audience": "shop"})
        server = ApiClient(make_key())
        mia = {"email": "mia@example.com", "first_name": "Mia", "last_name": "Miller", "external_id": "customer-81"}
        user = self.record(server, "server_users_create", "server/users", mia, status=201, name="new")["user"]
        self.record(server, "server_users_create", "server/users", mia, name="repeated")
        self.record(server, "server_users_find", "server/users?external_id=customer-81&limit=50")
        path = f"server/users/{user['id']}"
        self.record(server, "server_users_get", path)
        self.record(server, "server_users_change", path, {"first_name": "Mia Sophie"})
        device = {"device_name": "Shop app"}
        token = self.record(server, "server_sessions_open", f"{path}/sessions", device, status=201)["token"]
        self.record(server, "server_introspect", "server/introspect", {"token": token}, name="active")
        self.record(
            server, "server_introspect", "server/introspect", {"token": "of another service"}, name="not_active"
        )
        message = {
            "sender_id": alice.user.id, "recipient_id": user["id"], "body": "Welcome!", "client_id": "welcome-81",
        }  # fmt: skip
        self.record(server, "server_messages_send", "server/messages", message, status=201, name="new")
        self.record(server, "server_messages_send", "server/messages", message, name="repeated")
        self.record(server, "server_users_block", f"{path}/block", {"reason": "spam", "until": "2100-01-01T00:00:00Z"})
        self.record(server, "server_users_unblock", f"{path}/unblock", {"reason": "a mistake"})
        self.record(server, "server_users_sign_out", f"{path}/sign-out", {"reason": "left the company"})
        self.record(server, "server_events_list", "server/events?types=account.*&limit=1")
        self.record(server, "server_users_erase", path, {"reason": "left the company"})

    def act(self, client, operation_id, action, path, data=None, **options):
        """A sensitive request; its challenge and its action token are examples, too."""
        body = self.record(client, "auth_action_challenge", "auth/action-challenge", {"action": action})
        confirm = {"challenge_token": body["challenge_token"], "code": last_code(client.user.email)}
        body = self.record(client, "auth_action_verify", "auth/action-verify", confirm)
        headers = {"X-Action-Token": body["action_token"]}
        return self.record(client, operation_id, path, data, headers=headers, **options)

    def two_step(self, alice):
        second = {"password": SECOND, "hint": "a colour and a light"}
        body = self.act(alice, "auth_two_step_enable", "two_step_enable", "auth/two-step/enable", second)
        self.record(alice, "auth_two_step_status", "auth/two-step/status")
        login = {"email": alice.user.email, "password": PASSWORD}

        def pending():
            reply = self.record(ApiClient(), "auth_login", "auth/login", login, name="two_step")
            return ApiClient(reply["two_step_token"])

        client = pending()
        self.record(client, "auth_two_step_resend", "auth/resend-two-step")
        self.record(client, "auth_two_step", "auth/two-step", {"password": SECOND, "remember": True})
        recover = {"recovery_code": body["recovery_codes"][0]}
        self.record(pending(), "auth_two_step_forgot", "auth/two-step/forgot", recover)
        devices = self.record(alice, "auth_devices_list", "auth/devices")
        self.record(alice, "auth_devices_remove", f"auth/devices/{devices['devices'][0]['id']}")
        self.act(alice, "auth_two_step_recovery_codes", "recovery_codes", "auth/two-step/recovery-codes")
        change = {"password": SECOND, "new_password": "amber compass 77", "hint": "a stone and a tool"}
        self.act(alice, "auth_two_step_change", "two_step_change", "auth/two-step/change", change)
        off = {"password": change["new_password"]}
        self.act(alice, "auth_two_step_disable", "two_step_disable", "auth/two-step/disable", off)

    def account(self, alice, bob, charlie):
        login = {"email": alice.user.email, "password": PASSWORD}
        alice.token = self.record(ApiClient(), "auth_login", "auth/login", login, name="signed_in")["token"]
        alice.token = self.record(alice, "auth_refresh", "auth/refresh")["token"]
        rows = self.record(alice, "auth_sessions_list", "auth/sessions")["sessions"]
        other = next(row["id"] for row in rows if not row["is_current"])
        self.record(alice, "auth_sessions_end", f"auth/sessions/{other}")
        self.record(alice, "auth_sessions_end_others", "auth/sessions/revoke-others")
        passwords = {"current_password": PASSWORD, "new_password": "eight small boats"}
        body = self.act(alice, "auth_change_password", "change_password", "auth/change-password", passwords)
        alice.token = body["token"]
        self.act(alice, "auth_export", "export_data", "auth/export")
        new = "alice.archer@example.com"
        self.act(alice, "auth_change_email", "change_email", "auth/change-email", {"email": new})
        self.record(alice, "auth_change_email_verify", "auth/change-email/verify", {"code": last_code(new)})
        undo = next(sent.body for sent in reversed(mail.outbox) if "/email-undo/" in sent.body)
        token = undo.split("/email-undo/")[1].split()[0]
        self.record(alice, "auth_security_changes", "auth/security-changes")
        self.record(ApiClient(), "auth_change_email_undo", "auth/change-email/undo", {"token": token})
        address = {"email": bob.user.email}
        self.record(ApiClient(), "auth_forgot_password", "auth/forgot-password", address)
        reset = address | {"code": last_code(bob.user.email), "new_password": "nine quiet rivers"}
        self.record(ApiClient(), "auth_verify_reset", "auth/verify-reset", reset)
        self.act(charlie, "auth_delete_account", "delete_account", "auth/delete-account")
        login = {"email": charlie.user.email, "password": PASSWORD}
        charlie.token = ApiClient().post("/api/v1/auth/login", login)["token"]
        self.record(charlie, "auth_logout", "auth/logout")


PEOPLE = (("Alice", "Archer"), ("Bob", "Baker"), ("Charlie", "Cooper"))
