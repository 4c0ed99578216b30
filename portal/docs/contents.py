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
            guide("quickstart", "Quick start", "From sign-up to the first message in five steps."),
            guide("testing", "Testing", "The local mailbox, the push outbox and demo users."),
            guide("javascript", "JavaScript", "The SDK for browsers and Node: sign-in, state, live events, calls."),
            guide("react", "React", "Chat in 100 lines, with the hooks of the SDK."),
            guide("clients", "Client libraries", "Generate a client for your language from the schema."),
            guide("bot", "A bot in 30 lines", "Answer every message exactly once, in Python."),
            guide("browsers", "Supported browsers", "The oldest versions, and what works without which part."),
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
            guide("paging", "Pagination", "Read long lists without gaps and duplicates."),
            guide("idempotency", "Idempotency", "Repeat a request after a lost connection."),
            guide("live-events", "Live events", "Open the socket, acknowledge, and resume after a break."),
            guide("push", "Push messages", "Register a device and read the payloads."),
            guide("calls", "Calls", "Voice and video calls over WebRTC."),
            guide("retries", "Errors and retries", "Which errors to show and which requests to repeat."),
            guide("rate-limits", "Rate limits", "How often each request may be sent."),
        ),
    ),
    Group(
        "Your own server",
        (
            guide("own-server", "Bring your users", "Create users, let them in, act for them, check their tokens."),
            guide("server-events", "Events to your server", "Signed webhooks, retries, and catching up."),
            guide("identity-tokens", "Tokens for your other services", "Verify a user by JWKS instead of asking here."),
            guide("moving", "Moving from another chat service", "What becomes what, and in which order."),
        ),
    ),
    Group(
        "Reference",
        (
            Page("reference", "HTTP API", "Every operation with its fields, examples and errors."),
            Page("realtime", "WebSocket API", "Every command, event and close code of the socket."),
            Page("errors", "Error codes", "Every code: when it occurs and what to do."),
            Page("api-docs", "API console", "Send requests to this server from the browser."),
        ),
    ),
    Group(
        "Operate",
        (
            guide("deployment", "Deployment", "Run the service on your own machines."),
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


def neighbours(name: str) -> tuple[Page | None, Page | None]:
    """The pages before and after a page, in the order of the navigation; both None for one that is not in it."""
    listed = pages()
    at = next((at for at, page in enumerate(listed) if page.name == name), None)
    if at is None:
        return None, None
    return listed[at - 1] if at else None, listed[at + 1] if at + 1 < len(listed) else None


def guides() -> list[Page]:
    """The pages that are Markdown files, shown as they are."""
    return [page for page in pages() if page.file and page.name != "quickstart"]


def examples() -> list[str]:
    """The names of the programs in docs/examples."""
    return sorted(path.name for path in (settings.BASE_DIR / "docs" / "examples").iterdir() if path.is_file())


def read(name: str) -> str:
    return (settings.BASE_DIR / name).read_text(encoding="utf-8")
