"""The whole service as its users meet it: a server process, a mail server, sockets."""

import contextlib
import os
import re
from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest
from aiosmtpd.controller import Controller

from tests.databases import TemporaryDatabase
from tests.server import ON_POSTGRES, RunningServer, free_port


class MailSink:
    """A real SMTP server that keeps what it is given."""

    url = ""

    def __init__(self):
        self.mails = []

    @classmethod
    @contextlib.contextmanager
    def running(cls, port):
        sink = cls()
        controller = Controller(sink, hostname="127.0.0.1", port=port)
        controller.start()
        sink.url = f"smtp://127.0.0.1:{controller.port}"
        try:
            yield sink
        finally:
            controller.stop()

    async def handle_DATA(self, server, session, envelope):
        message = message_from_bytes(envelope.content, _class=EmailMessage, policy=policy.default)
        self.mails.append((list(envelope.rcpt_tos), message))
        return "250 OK"

    def code_for(self, address):
        """The newest code mailed to an address, or None."""
        for recipients, message in reversed(self.mails):
            if address in recipients:
                text = message.get_body(("plain",)).get_content()
                if found := re.search(r"(?<!\d)\d{6}(?!\d)", text):
                    return found[0]
        return None


@pytest.fixture
def mail_sink():
    with MailSink.running(free_port()) as sink:
        yield sink


@contextlib.contextmanager
def running_server(folder, mail_sink, *, empty=False):
    """A server on the backend under test, not yet started; its mail goes to the sink. `empty`: it makes its tables."""
    with contextlib.ExitStack() as stack:
        # Sockets and messages come faster here than a person types.
        environment = {"EMAIL_URL": mail_sink.url, "RATELIMIT_ENABLE": "0"}
        if ON_POSTGRES:
            environment["DATABASE_URL"] = stack.enter_context(TemporaryDatabase(empty=empty))
            environment["REDIS_URL"] = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/0")
        running = RunningServer(folder, **environment)
        running.empty = empty
        stack.callback(running.kill)
        yield running


@pytest.fixture
def server(tmp_path, mail_sink):
    with running_server(tmp_path, mail_sink) as running:
        yield running
