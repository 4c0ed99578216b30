"""What the documents name exists: files, folders, commands and their options, environment variables, and links."""

import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.urls import resolve

from config.site.shell import not_found
from devtools.command_line import parser

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


# The change log names commands as they were called in their version.
@pytest.mark.parametrize(
    "document", [path for path in DOCUMENTS if path.name != "CHANGELOG.md"], ids=lambda path: path.stem
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


RECORDS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem[:4])
def test_a_decision_has_a_date_a_context_a_decision_and_a_consequence(record):
    parts = re.split(r"^(?:Date: |\*\*(?:Context|Decision|Consequence)\.\*\* )", record.read_text(), flags=re.MULTILINE)
    marks = re.findall(r"^(?:Date|\*\*(?:Context|Decision|Consequence))", record.read_text(), flags=re.MULTILINE)
    assert marks == ["Date", "**Context", "**Decision", "**Consequence"]
    assert re.fullmatch(r"20\d\d-\d\d-\d\d\s*", parts[1])
    assert all(len(part.split()) >= 5 for part in parts[2:])
    title = parts[0].strip().removeprefix("# ")
    assert f"({record.name})" in (RECORDS[0].parent / "README.md").read_text(), title


def test_servers_and_the_check_have_the_same_kernel_setting():
    lines = (ROOT / "deploy" / "sysctl.conf").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["net.ipv4.tcp_migrate_req = 1"]
    for path in (ROOT / ".ci" / "run", ROOT / "docs" / "deployment.md"):
        assert "deploy/sysctl.conf" in path.read_text(), path
