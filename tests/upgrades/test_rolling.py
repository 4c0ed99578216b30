"""An upgrade while people talk: the code of the release before works on the schema after it, and again after a step back."""

import subprocess
import sys

import pytest

from tests.flows.conftest import running_server
from tests.flows.main_job import two_people_talk
from tests.flows.people import Person
from tests.server import ROOT, RunningServer
from tests.upgrades import code
from tests.upgrades.records import VERSIONS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def this_and_next(folder):
    return ROOT, code.next_release(folder / "next")


def last_and_this(folder):
    if not code.commit_of(VERSIONS[-1]):
        pytest.skip(f"the history of this clone does not reach back to {VERSIONS[-1]}")
    return code.of_release(VERSIONS[-1], folder / "last"), ROOT


@pytest.fixture(params=[this_and_next, last_and_this])
def releases(request, tmp_path):
    return request.param(tmp_path)


def manage(running, folder, *arguments):
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=folder,
        env=running.environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_code_before_works_on_the_schema_after(releases, tmp_path, mail_sink):
    before, after = releases
    with running_server(tmp_path, mail_sink, empty=True) as old:
        old.code = before
        alice, bob, carol, dave = (Person(old, name) for name in ("Alice", "Bob", "Carol", "Dave"))
        try:
            assert manage(old, before, "migrate", "--verbosity", "0").returncode == 0
            old.start()
            alice.sign_up(mail_sink)
            bob.sign_up(mail_sink)
            chat = alice.call("POST", "/messages/conversations", {"user_id": bob.id}, status=201)["conversation"]["id"]
            listener = bob.socket()

            # The new release migrates while the old one serves.
            migrated = manage(old, after, "migrate", "--verbosity", "0")
            assert migrated.returncode == 0, migrated.stderr
            assert manage(old, after, "migrate", "--check").returncode == 0
            alice.send(chat, "in the middle of it", "middle")
            assert listener.wait_for("message.new")["data"]["message"]["body"] == "in the middle of it"
            listener.close()

            # Both serve.
            (tmp_path / "new").mkdir()
            new = RunningServer(tmp_path / "new", **old.environment)
            new.code, new.empty = after, True
            try:
                new.start("--no-deliver")
                on_the_new = Person(new, "Alice")
                on_the_new.id, on_the_new.token = alice.id, alice.token
                on_the_new.send(chat, "through the new one", "new")
                on_the_new.close()
                alice.send(chat, "through the old one", "old")
                assert new.stop() == 0
            finally:
                new.kill()

            # The step back: the old code starts on the new schema, and does all of its work.
            assert old.stop() == 0
            old.start()
            assert [message["body"] for message in bob.messages(chat)][:3] == [
                "through the old one",
                "through the new one",
                "in the middle of it",
            ]
            for person in (carol, dave):
                person.sign_up(mail_sink)
            two_people_talk(old, carol, dave)
        finally:
            for person in (alice, bob, carol, dave):
                person.close()


def test_the_old_code_does_not_migrate_the_newer_database(tmp_path, mail_sink):
    later = code.next_release(tmp_path / "next")
    with running_server(tmp_path, mail_sink, empty=True) as running:
        assert manage(running, later, "migrate", "--verbosity", "0").returncode == 0
        refused = manage(running, ROOT, "migrate")
        assert refused.returncode == 1
        assert "from a newer version (accounts." in refused.stderr and refused.stderr.count("\n") == 1
