"""A real SMTP server that can be told to fail."""

import asyncio
import socket
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP


class SmtpSink:
    """Collects mails. `answers` are replies to DATA, each given once; `recipient_answers` to RCPT."""

    def __init__(self, port: int = 0, *, smtputf8: bool = False) -> None:
        self.mails: list[tuple[list[str], str]] = []
        # Every RCPT TO that was said, and the options of the MAIL FROM before it.
        self.asked: list[str] = []
        self.mail_options: dict[str, list[str]] = {}
        self.smtputf8 = smtputf8
        self.answers: list[str] = []
        self.recipient_answers: dict[str, str] = {}
        self.garbage = False
        self.seconds_to_accept = 0.0
        self.port = port or free_port()
        self._controller: Controller | None = None

    def start(self) -> None:
        sink = self

        class Server(SMTP):
            async def _handle_client(self) -> None:
                if sink.garbage:
                    self._writer.write(b"\x00\xff not a mail server\r\n" * 3)
                    await self._writer.drain()
                    self._writer.close()
                    return
                await super()._handle_client()

        class Sink(Controller):
            def factory(self) -> SMTP:
                return Server(self.handler, hostname="sink.test", enable_SMTPUTF8=sink.smtputf8)

        self._controller = Sink(self, hostname="127.0.0.1", port=self.port)
        self._controller.start()

    def stop(self) -> None:
        if self._controller is not None:
            self._controller.stop()
            self._controller = None

    async def handle_MAIL(self, server: Any, session: Any, envelope: Any, address: str, options: list[str]) -> str:
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        self.asked.append(address)
        self.mail_options[address] = envelope.mail_options
        if answer := self.recipient_answers.get(address):
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        await asyncio.sleep(self.seconds_to_accept)
        if self.answers:
            return self.answers.pop(0)
        self.mails.append((envelope.rcpt_tos, envelope.content.decode()))
        return "250 OK"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
