"""What the documents name exists: files, folders, commands and their options, environment variables, and links."""

import re
import subprocess
from pathlib import Path
from urllib.parse import urljoin

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.urls import resolve

from devtools.command_line import parser
from server.error_pages import not_found

pytestmark = pytest.mark.once

ROOT = Path(settings.BASE_DIR)
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "guides").glob("*.md")])
FOLDERS = "|".join(sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] not in "._"))
# Made by a command or by the reader, so not part of a checkout.
MADE_LATER = ("var/", "deploy/parley.env")
PATH = re.compile(rf"(?:{FOLDERS})/[\w./-]*")
COMMAND = re.compile(r"(manage|dev)\.py ([a-z_]+)([^`\n|#]*)")
OPTION = re.compile(r"(?<!\S)--[a-z][\w-]*")
VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
LINK = re.compile(r"\]\(([^)#?\s]+)[^)]*\)")


def codes(text):
    return re.findall(r"`([^`\n]+)`", text)


@pytest.fixture(params=DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def document(request):
    return request.param


def test_files_and_folders_exist(document):
    codes_in_document = {
        code for code in codes(document.read_text()) if PATH.fullmatch(code) and not code.startswith(MADE_LATER)
    }
    assert [path for path in sorted(codes_in_document) if not (ROOT / path).exists()] == []


def options_of(program, command):
    if program == "dev":
        commands = next(action.choices for action in parser()._actions if isinstance(action.choices, dict))
        return set(commands[command]._option_string_actions)
    own = load_command_class(get_commands()[command], command)
    return set(own.create_parser("manage.py", command)._option_string_actions)


# Files for tools, which call `dev.py`, too.
FOR_TOOLS = [ROOT / ".pre-commit-config.yaml", ROOT / ".devcontainer" / "devcontainer.json"]


# The change log names commands as they were called in their version.
@pytest.mark.parametrize(
    "document", [*(path for path in DOCUMENTS if path.name != "CHANGELOG.md"), *FOR_TOOLS], ids=lambda path: path.stem
)
def test_commands_have_these_names_and_options(document):
    for program, command, rest in COMMAND.findall(document.read_text()):
        # What follows ` -- ` or another program's name is not this command's.
        own = rest.split(" -- ")[0].split("manage.py")[0].split("dev.py")[0]
        assert set(OPTION.findall(own)) <= options_of(program, command), (program, command, rest)


def test_environment_variables_are_read(document):
    sources = "\n".join(
        path.read_text()
        for pattern in ("config/**/*.py", "*/conf.py", "core/**/*.py", "tests/**/*.py", "devtools/*.py", "deploy/**/*")
        for path in ROOT.glob(pattern)
        if path.is_file() and path != Path(__file__)
    )
    words = set(re.findall(r"[A-Z][A-Z0-9_]+", sources))
    codes_in_document = {code for code in codes(document.read_text()) if VARIABLE.fullmatch(code)}
    # `APP_SETTING` of an app's conf.py is `SETTING` there.
    missing = [name for name in sorted(codes_in_document) if name not in words and name.split("_", 1)[1] not in words]
    assert missing == []


def test_links_lead_somewhere(document):
    for target in LINK.findall(document.read_text()):
        if "://" in target:
            continue
        if not target.startswith("/"):
            path = (document.parent / target).resolve()
            # The site serves docs/glossary.md as /docs/glossary.
            assert path.exists() or path.with_suffix(".md").exists(), target
        if document.parent != ROOT:
            address = urljoin(f"/docs/{document.stem}", target)
            assert address.startswith("/static/") or resolve(address).func is not not_found, target


APPS = ("accounts", "messaging", "notifications", "realtime", "integrations")
ROWS_TO_TOUCH = [
    line.strip("| ").split(" | ")
    for line in (ROOT / "CONTRIBUTING.md")
    .read_text()
    .split("## Which files to touch")[1]
    .split("\n## ")[0]
    .splitlines()
    if line.startswith("| ") and not line.startswith("| To add")
]


@pytest.mark.parametrize("row", ROWS_TO_TOUCH, ids=lambda row: row[0])
def test_files_to_touch_exist(row):
    """Each file of the row, and at least one app for each `<app>/…`."""
    named = [
        code for code in codes(row[1]) if PATH.fullmatch(code) or code.startswith("<app>/") or code.endswith(".in")
    ]
    assert named
    for name in named:
        # A module may be a package of that name.
        paths = [ROOT / name.replace("<app>", app) for app in APPS]
        assert any(path.exists() or path.with_suffix("").is_dir() for path in paths), name


def test_ways_to_change_the_project_are_all_listed():
    listed = {row[0] for row in ROWS_TO_TOUCH}
    assert len(listed) == len(ROWS_TO_TOUCH)
    assert listed >= {
        "an endpoint", "a field of a message", "an error code", "the length of a code", "the length of a message",
        "a language", "a notification kind for a known fact", "a push provider", "an event to clients",
        "a socket command", "a setting", "a guide page", "a page of the web client",
    }  # fmt: skip


def test_the_change_log_is_short_and_has_the_usual_headings():
    parts = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    assert len(parts) >= 3
    for part in parts:
        version = part.splitlines()[0]
        assert re.fullmatch(r"Unreleased|\d+\.\d+\.\d+ – 20\d\d-\d\d-\d\d", version)
        assert len(part.strip().splitlines()) <= 30, version
        headings = re.findall(r"^### (.+)$", part, flags=re.MULTILINE)
        usual = ["Added", "Changed", "Fixed", "Security", "Upgrade notes"]
        assert headings == [name for name in usual if name in headings], version


DECISIONS = ROOT / "docs" / "decisions"
# A new decision is a section of one of these pages.
AREAS = sorted(path for path in DECISIONS.glob("*.md") if path.name != "README.md")
SECTION = re.compile(r"^## (.+?) <a id=\"(\d{4})\"></a>\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ANCHOR = re.compile(r"<a id=\"(\d{4})\"></a>")
DAY = r"20\d\d-\d\d-\d\d"
STATUS = re.compile(rf"^[A-Z].+, decided {DAY}(?:, measured {DAY}(?: and {DAY})?)?\.$", re.MULTILINE)


@pytest.mark.parametrize("area", AREAS, ids=lambda path: path.stem)
def test_a_decision_has_a_status_a_reason_and_a_consequence(area):
    text = area.read_text()
    assert f"]({area.name})" in (DECISIONS / "README.md").read_text()
    assert text.count("\n") <= 200
    sections = SECTION.findall(text)
    assert len(sections) == text.count("\n## ") - text.count("\n## Smaller choices")
    for title, number, body in sections:
        assert STATUS.search(body.split("**Decision.**")[0]), (number, title)
        parts = re.split(r"^\*\*(Decision|Why|Consequence)\.\*\* ", body, flags=re.MULTILINE)
        assert parts[1::2] == ["Decision", "Why", "Consequence"], (number, title)
        assert all(len(part.split()) >= 5 for part in parts[2::2]), (number, title)


def test_a_decision_has_one_place():
    numbers = [number for area in AREAS for number in ANCHOR.findall(area.read_text())]
    assert len(numbers) > 70
    assert sorted(numbers) == sorted(set(numbers))


def test_references_to_decisions_lead_to_their_sections():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    named = []
    for path in tracked:
        if not path.endswith(
            (".py", ".md", ".js", ".css", ".html", ".conf", ".toml", ".ini", "Containerfile", ".yaml")
        ):
            continue
        if path.startswith("static/vendor/") or not (ROOT / path).exists():
            continue
        text = (ROOT / path).read_text()
        named += [
            (path, page, anchor) for page, anchor in re.findall(r"docs/decisions/([\w-]+)\.md(?:#(\d{4}))?", text)
        ]
        if Path(path).parent == Path("docs/decisions"):
            links = re.findall(r"\]\(([\w-]+\.md)?#(\d{4})\)", text)
            named += [(path, page.removesuffix(".md") or Path(path).stem, anchor) for page, anchor in links]
    assert len(named) > 30
    texts = {area.stem: area.read_text() for area in [*AREAS, DECISIONS / "README.md"]}
    missing = [
        (path, page, anchor)
        for path, page, anchor in named
        if page not in texts or (anchor and f'<a id="{anchor}"></a>' not in texts[page])
    ]
    assert missing == []


def test_servers_and_the_check_have_the_same_kernel_setting():
    lines = (ROOT / "deploy" / "sysctl.conf").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["net.ipv4.tcp_migrate_req = 1"]
    for path in (ROOT / ".ci" / "run", ROOT / "docs" / "deployment.md"):
        assert "deploy/sysctl.conf" in path.read_text(), path
