"""Fills the database of a running server with a row of everything that the support pages show.

`python -m tests.browser.server_fixtures` in that server's environment prints, as JSON, the primary key of each row
under the name that the tests use, and the key of each staff member's app.
"""

import json
import os
import sys
from datetime import timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
PASSWORD = "a long word for the support pages"
STAFF = {"admin": "", "support": "Support", "moderator": "Moderator", "auditor": "Auditor", "operations": "Operations"}

# For each list the name of a row that no test changes.
DETAILS = {
    "accounts/auditentry": "audit entry",
    "accounts/block": "block",
    "accounts/code": "code",
    "accounts/session": "kept session",
    "accounts/trusteddevice": "kept trusted device",
    "accounts/user": "untouched",
    "auth/group": "support group",
    "integrations/event": "event",
    "integrations/serverkey": "server key",
    "integrations/webhooktarget": "webhook target",
    "messaging/conversation": "conversation",
    "messaging/message": "message",
    "messaging/report": "kept report",
    "notifications/channelpause": "pause",
    "notifications/delivery": "dead push",
    "notifications/device": "push device",
    "notifications/notification": "notification",
    "otp_static/staticdevice": "static",
    "otp_totp/totpdevice": "app",
    "realtime/call": "call",
}


def fill():
    from django.contrib.auth.models import Group
    from django.utils import timezone
    from django_otp.plugins.otp_totp.models import TOTPDevice

    from accounts.client import Client
    from accounts.models import Code
    from accounts.services import profile, registration
    from accounts.sign_in import codes, sessions, trusted_devices
    from integrations.models import Event, WebhookTarget
    from integrations.services import keys as server_keys
    from messaging.services import conversations, messages, reports
    from notifications.models import ChannelPause, Delivery, Notification
    from notifications.services import devices as push
    from realtime.models import Call

    now = timezone.now()
    rows, keys = {}, {}

    def person(name, **fields):
        fields = {"verified": True, "password": None, "last_name": "Example"} | fields
        user = registration.create_user(email=f"{name}@example.com", first_name=name.title(), **fields)
        rows[name] = user.id
        return user

    def app_of(user):
        return TOTPDevice.objects.create(user=user, confirmed=True, name="app")

    for name, group in STAFF.items():
        user = person(f"{name}.staff", password=PASSWORD, is_staff=True, is_superuser=not group)
        user.groups.set(Group.objects.filter(name=group))
        keys[name] = app_of(user).bin_key.hex()
    person("newcomer.staff", password=PASSWORD, is_staff=True, is_superuser=True)
    person("online", password=PASSWORD)
    rows["app"] = app_of(person("lostphone", is_staff=True)).id
    rows["static"] = user.staticdevice_set.create(name="static codes").id
    rows["support group"] = Group.objects.get(name="Support").id
    rows["group"] = Group.objects.create(name="Trainees").id

    for name in ("spammer", "keyboard", "leaving", "promoted", "exported", "untouched"):
        person(name)
    person("blocked", blocked_at=now, blocked_reason="noise")
    person("locked", wrong_passwords=5, wrong_password_at=now, locked_until=now + timedelta(hours=1))
    unconfirmed = person("unconfirmed", verified=False)
    codes.issue(user=unconfirmed, purpose="signup", address=unconfirmed.email)
    rows["code"] = Code.objects.get(user=unconfirmed).id
    person("twostep", second_password="argon2$never-compared", second_password_changed_at=now)

    ann, ben = person("ann", password=PASSWORD), person("ben", password=PASSWORD)
    for name in ("session", "kept session", "other session"):
        rows[name] = sessions.start(user=ann, client=Client("192.0.2.7", "tests", name))[0].id
    for name in ("trusted device", "kept trusted device"):
        rows[name] = trusted_devices.remember_device(user=ann, device_name=name)[0].id
    rows["session of ben"] = sessions.start(user=ben, client=Client("192.0.2.8"))[0].id
    sessions.start(user=person("guest"))
    rows["block"] = profile.block(blocker=ben, blocked_id=rows["guest"]).id

    conversation, _ = conversations.start(starter=ann, user_id=ben.id)
    rows["conversation"] = conversation.id

    def send_message(body):
        return messages.send(sender=ann, conversation_id=conversation.id, body=body)[0].id

    rows["message"] = send_message("the first wording")
    messages.edit(editor=ann, message_id=rows["message"], body="what Ann wrote")
    for name in ("resolved", "dismissed", "kept report"):
        rows[name] = reports.report(reporter=ben, message_id=send_message(f"about {name}"), reason="spam").id
    rows["notification"] = Notification.objects.filter(recipient=ben).latest("id").id
    rows["push device"] = push.register(user_id=ben.id, session_id=rows["session of ben"], token="token-of-ben").id

    def delivery(name, **fields):
        fields = {"channel": "push", "kind": "test", "group_key": "test", "device_id": rows["push device"]} | fields
        fields |= {"recipient": ben, "dedupe_key": name, "expires_at": now, "finished_at": now}
        rows[name] = Delivery.objects.create(state="dead", last_error="503", tries=6, **fields).id

    delivery("dead push")
    delivery("dead mail", channel="mail", kind="mail", group_key="", device_id=None)
    # Mails wait for ever, so that nothing moves by itself while a test looks.
    ChannelPause.objects.create(channel="mail", reason="refused", until=now + timedelta(days=1))
    rows["pause"] = "mail"
    rows["server key"] = server_keys.create(name="shop", scopes=["users:read"], networks=(), actor="tests")[0].id
    rows["webhook target"] = WebhookTarget.objects.create(name="shop", switched_off_at=now, reason="410").id
    rows["event"] = Event.objects.create(type="account.created", data={"user_id": ann.id}).id
    ended = {"state": "ended", "outcome": "missed", "expires_at": now, "ended_at": now}
    rows["call"] = Call.objects.create(
        conversation_id=conversation.id, caller=ann, callee=ben, media="audio", **ended
    ).id
    return {"rows": {name: str(key) for name, key in rows.items()}, "keys": keys}


if __name__ == "__main__":
    django.setup()
    json.dump(fill(), sys.stdout)
