"""What another service would report for the feed, and the rows of the feed in the client."""

import json
import secrets
import subprocess
import sys

from tests.server import ROOT


def like(server, recipient, *actors, posts=(7,)):
    """Likes of posts of the recipient."""
    events = [
        {
            "type": "post_like",
            "event_id": f"like-{secrets.token_hex(6)}",
            "actor_id": actor,
            "recipient_id": recipient,
            "target": {"type": "post", "id": post, "title": "The river path"},
        }
        for post in posts
        for actor in actors
    ]
    lines = "\n".join(json.dumps(event) for event in events)
    command = [sys.executable, "manage.py", "emit_event"]
    done = subprocess.run(
        command, cwd=ROOT, env=server.environment, input=lines, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def notifications_of(page):
    """Those that can be removed; sign-ins and missed calls stand between them."""
    rows = page.get_by_role("list", name="Notifications").get_by_role("listitem")
    return rows.filter(has=page.get_by_role("button", name="Remove"))
