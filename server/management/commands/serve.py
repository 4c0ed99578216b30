"""`manage.py serve`: serves HTTP and sockets and, on the embedded default, delivers in a thread of its own."""

from __future__ import annotations

import argparse
import errno
import os
import socket
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import Error as DatabaseProblem
from django.db import connections

from core.commands import PlainCommand
from core.conf import refuse_unsafe_settings
from core.database.connections import leave_pool
from core.version import VERSION
from notifications.services import delivery
from portal.client import translations
from portal.development import demo
from server import drift, health, history, protocols

FIRST_PORT = 8000
PORTS_TRIED = 100
# More than a machine has use for. A typing error could otherwise take all its memory.
WORKERS_PER_CORE = 8
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Command(PlainCommand):
    help = "Serve everything: REST, sockets, pages and, with SQLite, the delivery of mail and push."
    # --prepare migrates first, and checks that must stop a release are in `check --deploy`.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=port_number, help="port; without it 8000, or the next free one")
        parser.add_argument("--workers", type=int, default=1, help="processes (1); more than one needs REDIS_URL")
        delivery_here = parser.add_mutually_exclusive_group()
        delivery_here.add_argument(
            "--deliver", action="store_true", help="deliver mail and push here on PostgreSQL, too"
        )
        delivery_here.add_argument("--no-deliver", action="store_true", help="leave delivery to `manage.py deliver`")
        parser.add_argument("--access-log", action="store_true", help="a line per request")
        parser.add_argument("--prepare", action="store_true", help="first migrate and, with DEBUG=1, create demo users")
        parser.add_argument("--no-demo", action="store_true", help="with --prepare: create no demo users")
        parser.add_argument(
            "--seed", type=int, help="with --prepare: the same demo users and messages on every machine"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_contradictions(options)
        refuse_unsafe_settings(is_command=True)
        refuse_foreign_database()
        logins = []
        if options["prepare"]:
            logins = self.prepare(with_demo=settings.DEBUG and not options["no_demo"], seed=options["seed"])
        else:
            for sentence in drift.faults_at_start():
                self.report(sentence)
            connections.close_all()
        listener = listen(options["host"], options["port"])
        host, port = listener.getsockname()[:2]
        if options["port"] is None and port != FIRST_PORT:
            self.report(
                f"Port {FIRST_PORT} is taken: this server uses {port}. In the README, set BASE=http://127.0.0.1:{port}"
            )
        if not os.environ.get("SITE_URL"):
            # Set for this process and, through the environment, for worker processes.
            settings.SITE_URL = os.environ["SITE_URL"] = served_at(host, port)
        self.stdout.write(table(host=host, port=port, logins=logins))
        sys.stdout.flush()

        deliver = not options["no_deliver"] and (settings.EMBEDDED or options["deliver"] or options["prepare"])
        with delivery.run_in_thread() if deliver else nullcontext():
            protocols.serve(
                host=host,
                port=port,
                workers=options["workers"],
                listener=listener,
                access_log=options["access_log"],
            )
        self.report("Stopped.")

    def prepare(self, *, with_demo: bool, seed: int | None) -> list[demo.Login]:
        """Brings database and translations up to date and creates the demo users. Returns their logins."""
        if health.unapplied_migrations():
            self.report("Migrating the database …")
            call_command("migrate", interactive=False, verbosity=0)
        if compiled := translations.compile_catalogs(only_stale=True):
            self.report(f"Compiled {compiled} translation files.")
        logins = demo.ensure(report=self.report, seed=seed) if with_demo else []
        # This thread becomes the server and does not use the database any more.
        connections.close_all()
        return logins


def refuse_foreign_database() -> None:
    """CommandError for a database whose tables this code cannot use. A server that does not answer is no reason: the
    process waits for it."""
    # The thread that starts the server does not use the database any more.
    leave_pool()
    with suppress(DatabaseProblem):
        if foreign := history.foreign():
            raise CommandError(foreign)
    connections.close_all()


def refuse_contradictions(options: dict[str, Any]) -> None:
    """CommandError for options that exclude each other, or that these settings do not allow."""
    if options["seed"] is not None and not (settings.DEBUG and options["host"] in LOOPBACK):
        raise CommandError("--seed makes known passwords: only with DEBUG=1 and on 127.0.0.1.", returncode=2)
    if not options["prepare"] and (options["seed"] is not None or options["no_demo"]):
        raise CommandError("--seed and --no-demo are about the demo users of --prepare: add it.", returncode=2)
    most = WORKERS_PER_CORE * (os.cpu_count() or 1)
    if not 1 <= options["workers"] <= most:
        raise CommandError(f"--workers is a number from 1 to {most} on this machine.", returncode=2)
    if options["workers"] > 1 and not settings.REDIS_URL:
        raise CommandError("More than one worker needs REDIS_URL: they wake each other through it.", returncode=2)


def port_number(text: str) -> int:
    """argparse type of a valid port. getaddrinfo would take a larger number modulo 65,536."""
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port")
    return int(text)


def listen(host: str, port: int | None) -> socket.socket:
    """A listening socket on the given port or, without one, on the first free port from 8000.

    Raises:
        CommandError: the port is taken, or the address is not this machine's.
    """
    ports = [port] if port is not None else range(FIRST_PORT, FIRST_PORT + PORTS_TRIED)
    for candidate in ports:
        try:
            return bind(host, candidate)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise CommandError(f"Cannot listen on {host}:{candidate}: {error.strerror or error}") from error
    if port is not None:
        raise CommandError(f"Port {port} is taken. Leave --port out to take the next free one from {FIRST_PORT}.")
    raise CommandError(f"No free port between {FIRST_PORT} and {FIRST_PORT + PORTS_TRIED - 1}.")


def bind(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        # A restart must not wait for the last connections' TIME_WAIT.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    listener.set_inheritable(True)
    return listener


def served_at(host: str, port: int) -> str:
    """The address to open in a browser on this machine."""
    shown = "127.0.0.1" if host in {"0.0.0.0", "::", ""} else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def table(*, host: str, port: int, logins: Sequence[demo.Login]) -> str:
    """The table of addresses that `run` prints."""
    base = served_at(host, port)
    rows = [
        (settings.PRODUCT_NAME, f"{base}/"),
        ("API docs", f"{base}/api/docs"),
        ("Quick start", f"{base}/docs/quickstart"),
    ]
    rows += [("Admin", f"{base}/admin/")]
    if settings.DEBUG:
        rows += [("Mailbox", f"{base}/dev/mail/"), ("Push outbox", f"{base}/dev/push/")]
    rows += [("Health", f"{base}/readyz"), ("Version", VERSION)]
    rows += [(login.title, f"{login.email}  {login.password}") for login in logins]
    width = max(len(name) for name, _ in rows)
    lines = [f"  {name:<{width}}  {value}" for name, value in rows]
    return "\n".join(["", *lines, "", "  Ctrl-C stops everything.", ""])
