"""A backup is restored, or a copy of the database takes over, while clients are on line: they go on with the tokens that they
have, also with those that are newer than the database, and no mail warns of a theft."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.databases import Backup, on_server
from tests.flows.people import Person
from tests.server import ROOT
from tests.waiting import wait_for

NAMES = ["Asleep", "Renewed", "Ahead", "Late"]


def manage(server, *words):
    command = [sys.executable, "manage.py", *words]
    done = subprocess.run(command, cwd=ROOT, env=server.environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]


class ByCommand:
    """`manage.py backup` of a server at work, `manage.py restore` into an empty place."""

    def __init__(self, server):
        self.server = server
        self.folder = str(Path(server.environment["VAR_DIR"]).parent / "backup")
        manage(server, "backup", self.folder)

    def put_back(self):
        url = self.server.environment.get("DATABASE_URL")
        if url:
            name = url.rpartition("/")[2]
            on_server(f'DROP DATABASE "{name}" WITH (FORCE)')
            on_server(f'CREATE DATABASE "{name}"')
        else:
            for file in Path(self.server.environment["VAR_DIR"]).glob("parley.sqlite3*"):
                file.unlink()
        manage(self.server, "restore", self.folder)


class ByCopy:
    """A copy of the database that lacks the last changes takes over, as it is; then the operator starts a new epoch."""

    def __init__(self, server):
        self.server = server
        server.stop()
        self.copy = Backup(server.environment)
        server.start()

    def put_back(self):
        self.copy.restore()
        self.copy.remove()
        manage(self.server, "new_epoch")


@pytest.fixture
def people(server, mail_sink):
    server.start()
    made = [Person(server, name) for name in NAMES]
    for person in made:
        person.sign_up(mail_sink)
    yield made
    for person in made:
        person.close()


def renew(person):
    person.token = person.call("POST", "/auth/refresh")["token"]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("way", [ByCommand, ByCopy])
def test_clients_on_line_go_on_with_their_tokens(server, people, mail_sink, way):
    asleep, renewed, ahead, late = people
    opened = renewed.call("POST", "/messages/conversations", {"user_id": ahead.id}, status=201)
    conversation = opened["conversation"]["id"]
    kept = renewed.send(conversation, "before the backup", "kept")["id"]
    backup = way(server)

    renew(renewed)
    renewed.call("GET", "/auth/me")
    for _ in range(3):
        renew(ahead)
        ahead.call("GET", "/auth/me")
    renew(ahead)  # and has not used it yet
    signed_in = late.call("POST", "/auth/login", {"email": late.email, "password": "a long word for lates"})
    late.token = signed_in["token"]
    sockets = [person.socket() for person in people]
    renewed.send(conversation, "lost with the machine", "lost")
    sockets[2].wait_for("message.new")
    positions = [socket.position() for socket in sockets]
    mails = len(mail_sink.mails)

    server.kill()
    for socket in sockets:
        socket.receive_until_closed()
    backup.put_back()
    server.start()

    for person, position in zip((asleep, renewed, ahead), positions, strict=False):
        # The apps come back at once, with several requests side by side.
        person.call("GET", "/auth/me")
        socket = person.socket(resume=position)
        assert socket.wait_for("resync") and socket.ready["epoch"] != position["epoch"]
        socket.close()
        renew(person)
        person.call("GET", "/auth/me")
        assert [row["is_current"] for row in person.call("GET", "/auth/sessions")["sessions"]] == [True]
    assert [message["id"] for message in ahead.messages(conversation)] == [kept]
    # This sign-in is not in the backup: it is over, and another one is not a theft either.
    assert late.call("GET", "/auth/me", status=401)["error"] in {"token_invalid", "token_revoked"}
    listening = ahead.socket()
    renewed.send(conversation, "after it", "after")
    assert listening.wait_for("message.new")["data"]["message"]["body"] == "after it"
    listening.close()
    # A mail that was sent after them has arrived: no other one comes.
    asleep.call("POST", "/auth/forgot-password", {"email": asleep.email})
    wait_for(lambda: len(mail_sink.mails) > mails, what="the code of a reset")
    assert [recipients for recipients, _mail in mail_sink.mails[mails:]] == [[asleep.email]]
