"""A running server, and people who use it through the SDK in Node."""

import json
import secrets
import subprocess
import sys

import pytest

from tests.flows.conftest import MailSink, running_server
from tests.sdk.node import Node
from tests.server import ROOT, free_port
from tests.waiting import wait_for

PASSWORD = "a long word for scripts"


@pytest.fixture(scope="module")
def mail_sink():
    with MailSink.running(free_port()) as sink:
        yield sink


@pytest.fixture(scope="module")
def server(tmp_path_factory, mail_sink):
    """One for the tests of a file; those that kill it start it again."""
    with running_server(tmp_path_factory.mktemp("sdk"), mail_sink) as running:
        running.start()
        yield running


@pytest.fixture
def node():
    running = Node()
    yield running
    running.close()


@pytest.fixture
def alice(node, server, mail_sink):
    return sign_up(node, server, mail_sink, "Alice")


@pytest.fixture
def bob(node, server, mail_sink):
    return sign_up(node, server, mail_sink, "Bob")


@pytest.fixture
def people(node, alice, bob):
    """`state.alice` and `state.bob` are signed in and have a conversation, `state.talk`."""
    node.run("""
      const { conversation } = await state.alice.messages.startConversation({ user_id: state.bob.session.userId });
      state.talk = conversation.id;
    """)
    return node


def sign_up(node, server, mail_sink, name):
    """Makes `state.<name>`, a client with an account of its own; returns the address."""
    key = name.lower()
    email = f"{key}-{secrets.token_hex(3)}@example.com"
    account = {"first_name": name, "last_name": "Example", "email": email, "password": PASSWORD, "language": "en"}
    node.run(f"""
      state.{key} = make({{ baseUrl: "{server.base}", name: "{key}" }});
      await state.{key}.auth.signup({json.dumps(account)});
    """)
    code = wait_for(lambda: mail_sink.code_for(email), what=f"a code for {email}")
    node.run(f'await state.{key}.auth.verify({{ email: "{email}", code: "{code}" }});')
    return email


def manage(server, *arguments, text=None):
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=server.environment, input=text, capture_output=True, text=True, check=False
    )
    # 1 of emit_event: some events were refused, such as the end of a like that is not there.
    assert done.returncode == 0 or arguments == ("emit_event",), done.stdout + done.stderr


def likes(recipient_id, actor_id, numbers, action="create"):
    """Lines for emit_event: one post each, so one notification each."""
    events = [
        {
            "event_id": secrets.token_hex(8),
            "type": "post_like",
            "action": action,
            "recipient_id": recipient_id,
            "actor_id": actor_id,
            "target": {"id": number, "title": f"Post {number}"},
        }
        for number in numbers
    ]
    return "".join(f"{json.dumps(event)}\n" for event in events)
