"""The README's walk with curl runs as it stands."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

from portal.docs import markdown
from portal.docs.views import LOCAL_ADDRESS
from tests.flows.conftest import running_server

ROOT = Path(settings.BASE_DIR)
WALK = "From sign-up to the first message"
NAMED = re.compile(
    r"`((?:accounts|benchmarks|config|deploy|docs|messaging|notifications|realtime|templates|tests)/[^`\s]*)`"
)


def blocks():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```bash\n(.*?)^```$", markdown.section(text, WALK), re.MULTILINE | re.DOTALL)


@pytest.fixture
def server(tmp_path, mail_sink):
    """As on a new machine: it makes its tables itself."""
    with running_server(tmp_path, mail_sink, empty=True) as running:
        yield running


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
@pytest.mark.timeout(180)
def test_the_walk_runs_as_it_stands(server):
    # The walk reads the mailbox of this machine.
    del server.environment["EMAIL_URL"]
    server.start()
    script = "set -euo pipefail\n" + "\necho; echo ---\n".join(blocks())
    script = script.replace(LOCAL_ADDRESS, server.base)
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
    replies = [json.loads(line) for line in re.findall(r"\{.*?\}(?=\{|\n|$)", result.stdout) if line]
    assert replies, result.stdout
    assert all(reply["ok"] is True for reply in replies), replies
    listed = next(reply for reply in replies if "messages" in reply)
    assert [message["body"] for message in listed["messages"]] == ["Hello Ben!"]
    assert replies[-1]["message_unread_count"] == 0


def test_files_that_the_guides_name_exist():
    guides = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    names = {(guide.name, name) for guide in guides for name in NAMED.findall(guide.read_text(encoding="utf-8"))}
    assert len(names) > 20
    # What a reader makes from an example is there as the example.
    there = {name for _, name in names if (ROOT / name).exists() or (ROOT / f"{name}.example").exists()}
    assert not [(guide, name) for guide, name in sorted(names) if name not in there]
