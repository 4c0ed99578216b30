"""The contents of the documentation: groups, pages, and the file of each page."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse


@dataclass(frozen=True, slots=True)
class Page:
    """One page: the name of its route, its title, one sentence for the index, and its file in docs/."""

    name: str
    title: str
    about: str
    file: str = ""

    @property
    def address(self) -> str:
        return reverse(self.name)

    @property
    def text(self) -> str:
        """The Markdown of its file; empty without one."""
        return read(f"docs/{self.file}") if self.file else ""


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    pages: tuple[Page, ...]


def guide(name: str, title: str, about: str) -> Page:
    """A page that is a Markdown file of its own."""
    folder = settings.BASE_DIR / "docs"
    file = f"guides/{name}.md" if (folder / "guides" / f"{name}.md").exists() else f"{name}.md"
    return Page(name, title, about, file)


GROUPS = (
    Group(
        "Get started",
        (
            Page("quickstart", "Quick start", "From sign-up to the first message, with curl."),
            guide("testing", "Testing", "The local mailbox, the push outbox and demo users."),
            guide("javascript", "JavaScript", "The SDK for browsers and Node: sign-in, messages, live events, calls."),
            guide("clients", "Client libraries", "Generate a client for your language from the schema."),
            guide("versioning", "Versioning", "What may change, what never does, and how you learn about it."),
            Page("changelog", "Changelog", "What is new, by version and date."),
        ),
    ),
    Group(
        "Guides",
        (
            guide("sign-up", "Sign-up and sign-in", "Accounts, codes, tokens, refresh and sign-out."),
            guide("two-step", "Two-step verification", "Second password, trusted devices and recovery codes."),
            guide("action-tokens", "Action tokens", "Confirm sensitive actions with a mailed code."),
            guide("uploads", "Images", "Send, show and limit images and profile pictures."),
            guide("paging", "Paging", "Read long lists without gaps and duplicates."),
            guide("idempotency", "Safe repetition", "Repeat a request after a lost connection."),
            guide("live-events", "Live events", "Open the socket, acknowledge, and resume after a break."),
            guide("push", "Push messages", "Register a device and read the payloads."),
            guide("calls", "Calls", "Voice and video calls over WebRTC."),
            guide("retries", "Errors and retries", "Which errors to show and which requests to repeat."),
            guide("rate-limits", "Rate limits", "How often each request may be sent."),
        ),
    ),
    Group(
        "Reference",
        (
            Page("reference", "Operations", "Every operation with its fields, examples and errors."),
            Page("realtime", "Real-time protocol", "Every command, event and close code of the socket."),
            Page("errors", "Error codes", "Every code: when it occurs and what to do."),
            Page("api-docs", "API console", "Send requests to this server from the browser."),
        ),
    ),
    Group(
        "Operate",
        (
            guide("deployment", "Deployment", "Run Parley on your own machines."),
            guide("operations", "Operations", "Commands, backups, monitoring."),
            guide("upgrading", "Upgrading", "Move to a new release without downtime."),
            guide("sizing", "Sizing", "Measured throughput and memory."),
            guide("scaling", "Scaling", "What grows, what is full first, and what to do then."),
            guide("security", "Security", "What protects accounts and data."),
            guide("architecture", "Architecture", "Layers, transactions, and how a message and a call travel."),
            guide("glossary", "Glossary", "The terms of the code and of these pages."),
        ),
    ),
)


def pages() -> list[Page]:
    return [page for group in GROUPS for page in group.pages]


def guides() -> list[Page]:
    """The pages that are Markdown files."""
    return [page for page in pages() if page.file]


def read(name: str) -> str:
    return (settings.BASE_DIR / name).read_text(encoding="utf-8")
