"""Startup steps of `serve`: migrations, translations, demo users, and the table of addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from django.conf import settings
from django.core.management import call_command
from django.db import connections

from config import demo as demo_users
from config import health, translations
from notifications.services import delivery

Report = Callable[[str], object]


def prepare(*, demo: bool, report: Report, seed: int | None = None) -> list[demo_users.Login]:
    """Brings database and translations up to date; with `demo`, creates the demo users. Returns their logins."""
    if health.unapplied_migrations():
        report("Migrating the database …")
        call_command("migrate", interactive=False, verbosity=0)
    if compiled := translations.compile_catalogs(only_stale=True):
        report(f"Compiled {compiled} translation files.")
    logins = demo_users.ensure(report=report, seed=seed) if demo else []
    # This thread becomes the server and does not use the database any more.
    connections.close_all()
    return logins


def served_at(host: str, port: int) -> str:
    """The address to open in a browser on this machine."""
    shown = "127.0.0.1" if host in {"0.0.0.0", "::", ""} else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def table(*, host: str, port: int, logins: Sequence[demo_users.Login]) -> str:
    """The table of addresses that `run` prints."""
    base = served_at(host, port)
    rows = [("Parley", f"{base}/"), ("API docs", f"{base}/api/docs"), ("Quick start", f"{base}/docs/quickstart")]
    rows += [("Admin", f"{base}/admin/")]
    if settings.DEBUG:
        rows += [("Mailbox", f"{base}/dev/mail/"), ("Push outbox", f"{base}/dev/push/")]
    rows += [("Health", f"{base}/readyz")]
    rows += [(login.title, f"{login.email}  {login.password}") for login in logins]
    width = max(len(name) for name, _ in rows)
    lines = [f"  {name:<{width}}  {value}" for name, value in rows]
    return "\n".join(["", *lines, "", "  Ctrl-C stops everything.", ""])


@contextmanager
def delivery_thread() -> Iterator[None]:
    """Runs the delivery worker in a thread of this process while the block runs."""
    delivery.start_thread()
    try:
        yield
    finally:
        delivery.stop()
