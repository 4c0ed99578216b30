"""The house keeps its shape: what the import contracts and a few plain searches can prove."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.dispatch import Signal

ROOT = Path(settings.BASE_DIR)
APPS = ("accounts", "messaging", "notifications", "realtime")
# Facts that nobody here needs: said for apps that are put beside ours.
FOR_OTHERS = {"account_verified"}
BANNED_NAMES = {"utils", "helpers", "common", "misc"}


def sources(*folders: str) -> Iterator[tuple[str, str]]:
    """Path (relative, with slashes) and text of every Python file of our own, migrations apart."""
    for folder in folders or ("core", *APPS, "config"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def test_imports_keep_the_contracts():
    script = "from importlinter.cli import lint_imports_command as run; run()"
    result = subprocess.run(
        [sys.executable, "-c", script, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_no_migration_is_missing(db):
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_no_room_is_called_utils():
    found = {path for path, _ in sources() if BANNED_NAMES & {part.removesuffix(".py") for part in path.split("/")}}
    assert found == set()


def test_coroutines_live_in_realtime_and_config():
    found = {path for path, text in sources("core", "accounts", "messaging", "notifications") if "async def" in text}
    assert found == set()


def test_on_commit_is_used_in_services_only():
    found = {path for path, text in sources() if re.search(r"\bon_commit\(", text) and "/services" not in path}
    assert found == set()


def test_nobody_listens_to_post_save():
    found = {path for path, text in sources() if re.search(r"\b(post|pre)_(save|delete|init)\b", text)}
    assert found == set()


def signals_of(app: str) -> dict[str, Signal]:
    try:
        module = import_module(f"{app}.signals")
    except ModuleNotFoundError:
        return {}
    return {name: value for name, value in vars(module).items() if isinstance(value, Signal)}


@pytest.mark.parametrize("app", APPS)
def test_every_signal_says_when_it_is_sent_and_somebody_hears_it(app):
    text = (ROOT / app / "signals.py").read_text(encoding="utf-8") if (ROOT / app / "signals.py").exists() else ""
    lines = text.splitlines()
    for name, signal in signals_of(app).items():
        at = next(number for number, line in enumerate(lines) if re.match(rf"{name}\b.*=", line))
        assert lines[at - 1].lstrip().startswith("#"), f"{app}.signals.{name} does not say when it is sent"
        assert signal.receivers or name in FOR_OTHERS, f"nobody hears {app}.signals.{name}"


@pytest.mark.parametrize("app", APPS)
def test_public_functions_of_services_and_selectors_are_typed(app):
    untyped = []
    for path, text in sources(app):
        if "/services" not in path and "/selectors" not in path:
            continue
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                if node.returns is None or any(argument.annotation is None for argument in arguments):
                    untyped.append(f"{path}: {node.name}")
    assert untyped == []


def test_files_stay_small():
    large = {path: len(text.splitlines()) for path, text in sources() if len(text.splitlines()) > 400}
    assert large == {}
