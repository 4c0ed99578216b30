"""The code blocks of the documentation, and where each of its programs is compiled."""

import re
from pathlib import Path

from tests.server import ROOT

GUIDES = ROOT / "docs" / "guides"
FENCE = re.compile(r"^\s*(```|~~~)(.*)$")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What is compiled; other languages are shown or run (tests/flows/test_guides.py), or are words.
PROGRAMS = {"javascript", "js", "jsx", "python", "ts", "tsx"}
OTHERS = {"", "bash", "html", "http", "ini", "json", "text"}
# The guides whose programs need more than the variables and the helpers of the guide on testing: (guide, language) → test.
OWN_TESTS = {
    ("bot", "python"): "tests/sdk/test_python_client.py",
    ("clients", "ts"): "tests/sdk/test_generators.py",
    ("javascript", "javascript"): "tests/sdk/test_types.py",
    ("javascript", "ts"): "tests/sdk/test_types.py",
    ("react", "tsx"): "tests/browser/test_react_guide.py",
}


def pages() -> list[Path]:
    """Every page of the documentation, the read-me files and the notes of the deployment."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md")])


def blocks(guide: str, *languages: str) -> list[str]:
    """The blocks of a guide in these languages, in their order."""
    text = (GUIDES / f"{guide}.md").read_text(encoding="utf-8")
    return [code for name, code in BLOCK.findall(text) if name in languages]


def scripts(language: str) -> dict[str, list[str]]:
    """Guide → its blocks of this language as one script, after the helpers of the guide on testing."""
    names = sorted(path.stem for path in GUIDES.glob("*.md"))
    found = {name: blocks(name, language) for name in names if (name, language) not in OWN_TESTS}
    helpers = found["testing"]
    return {name: [*(helpers if name != "testing" else []), *own] for name, own in found.items() if own}
