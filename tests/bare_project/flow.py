"""Runs one flow through every installed app; prints what each did. Run by tests/bare_project/test_bare_project.py."""

import io
import os
import re
import sys

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.bare_project.settings"
django.setup()

from django.apps import apps  # noqa: E402
from django.core import mail  # noqa: E402
from django.core.files.uploadedfile import SimpleUploadedFile  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402
from PIL import Image  # noqa: E402


class Caller:
    def __init__(self, name):
        self.http = Client()
        self.email = f"{name.lower()}@example.com"
        who = {"email": self.email, "password": "silver orchard 88"}
        self.call("post", "auth/signup", who | {"first_name": name, "last_name": "Example", "language": "en"})
        code = re.search(r"\b\d{6}\b", mail.outbox[-1].body)[0]
        answer = self.call("post", "auth/verify", {"email": self.email, "code": code})
        self.id, self.token = answer["user"]["id"], answer["token"]

    def call(self, method, path, data=None):
        headers = {"Authorization": f"Bearer {self.token}"} if hasattr(self, "token") else {}
        send = getattr(self.http, method)
        extra = {"content_type": "application/json"} if method != "get" else {}
        reply = send(f"/api/v1/{path}", data, headers=headers, **extra)
        assert reply.status_code < 300, (path, reply.status_code, reply.content)
        return reply.json()

    def set_avatar(self):
        picture = io.BytesIO()
        Image.new("RGB", (300, 200), "teal").save(picture, "PNG")
        body = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("me.png", picture.getvalue(), "image/png")})
        headers = {"Authorization": f"Bearer {self.token}"}
        reply = self.http.put("/api/v1/profile/avatar", body, content_type=MULTIPART_CONTENT, headers=headers)
        assert reply.status_code == 200, reply.content
        return reply.json()


def run():
    call_command("check")
    call_command("migrate", verbosity=0)
    setup_test_environment()
    ada, ben = Caller("Ada"), Caller("Ben")
    assert ada.call("get", "auth/me")["user"]["email"] == ada.email
    avatar = ada.set_avatar()["avatar_url"]
    assert ben.http.get(avatar).headers["Content-Type"] == "image/png"
    print("accounts")
    if apps.is_installed("messaging"):
        conversation = ada.call("post", "messages/conversations", {"user_id": ben.id})["conversation"]
        path = f"messages/conversations/{conversation['id']}/messages"
        sent = ada.call("post", path, {"body": "Hello", "client_id": "one"})["message"]
        assert ben.call("get", path)["messages"][0]["id"] == sent["id"]
        print("messaging")
    if apps.is_installed("notifications"):
        (row,) = ben.call("get", "notifications")["notifications"]
        assert row["type"] == "message"
        print("notifications")
    loaded = {name.partition(".")[0] for name in sys.modules}
    print(
        "loaded:",
        *sorted(loaded & {"config", "server", "portal", "realtime", "notifications", "messaging", "accounts", "core"}),
    )


run()
