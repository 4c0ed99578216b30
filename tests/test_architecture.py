"""Rules of the architecture: the import contracts, and searches in the sources."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.dispatch import Signal

from realtime import wakeups
from realtime.consumers import RealtimeConsumer

pytestmark = pytest.mark.once

ROOT = Path(settings.BASE_DIR)
APPS = ("accounts", "messaging", "notifications", "realtime", "integrations")
PACKAGES = ("core", *APPS, "portal", "server", "config")
# Signals without a receiver in this project: for apps that are installed beside it.
FOR_OTHERS: set[str] = set()
BANNED_NAMES = {"utils", "helpers", "common", "misc"}


def sources(*folders: str) -> Iterator[tuple[str, str]]:
    """Path (relative, with slashes) and text of every Python file of our own, migrations apart."""
    for folder in folders or PACKAGES:
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


def test_no_module_is_called_utils():
    violations = {
        path for path, _ in sources() if BANNED_NAMES & {part.removesuffix(".py") for part in path.split("/")}
    }
    assert violations == set()


def test_coroutines_live_in_realtime_and_config():
    violations = {
        path for path, text in sources("core", "accounts", "messaging", "notifications") if "async def" in text
    }
    assert violations == set()


def test_on_commit_is_used_in_services_only():
    violations = {
        path
        for path, text in sources()
        if re.search(r"\bon_commit\(", text) and not re.search("/(services|sign_in|images)", path)
    }
    assert violations == set()


def partials(tree: ast.AST) -> set[str]:
    """The partials that a module makes, and the names to which it assigns them."""
    calls = {
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("partial")
    }
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and node.value in calls]
    return {ast.unparse(call) for call in calls} | {ast.unparse(node.targets[0]) for node in assigned}


def test_what_runs_after_a_commit_has_a_name():
    # Django names a robust function that failed. A partial has no name: its failure would be an error of the request.
    violations = set()
    for path, text in sources():
        tree = ast.parse(text)
        for node in ast.walk(tree):
            is_registered = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("on_commit")
            if is_registered and node.args and ast.unparse(node.args[0]) in partials(tree):
                violations.add(path)
    assert violations == set()


def test_signals_of_the_orm_are_not_used():
    violations = {path for path, text in sources() if re.search(r"\b(post|pre)_(save|delete|init)\b", text)}
    assert violations == set()


def signals_of(app: str) -> dict[str, Signal]:
    try:
        module = import_module(f"{app}.signals")
    except ModuleNotFoundError:
        return {}
    return {name: value for name, value in vars(module).items() if isinstance(value, Signal)}


@pytest.mark.parametrize("app", APPS)
def test_every_signal_says_when_it_is_sent_and_has_a_receiver(app):
    text = (ROOT / app / "signals.py").read_text(encoding="utf-8") if (ROOT / app / "signals.py").exists() else ""
    lines = text.splitlines()
    for name, signal in signals_of(app).items():
        at = next(number for number, line in enumerate(lines) if re.match(rf"{name}\b.*=", line))
        assert lines[at - 1].lstrip().startswith("#"), f"{app}.signals.{name} does not say when it is sent"
        assert signal.receivers or name in FOR_OTHERS, f"{app}.signals.{name} has no receiver"


def is_typed(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    signature = function.args
    arguments = [*signature.posonlyargs, *signature.args, *signature.kwonlyargs, signature.vararg, signature.kwarg]
    named = [argument for argument in arguments if argument and argument.arg not in ("self", "cls")]
    returns = function.returns is not None or function.name == "__init__"
    return returns and all(argument.annotation for argument in named)


def test_functions_are_typed():
    untyped = [
        f"{path}:{node.lineno}: {node.name}"
        for path, text in sources(*PACKAGES, "devtools")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_typed(node)
    ]
    assert untyped == []


def imports(tree: ast.AST, *, for_types: bool = False) -> Iterator[str]:
    """The modules that are imported at run time; with `for_types` those of `if TYPE_CHECKING`, too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        yield from imports(node, for_types=for_types)


@pytest.mark.parametrize("app", APPS)
def test_models_are_imported_in_their_own_app_except_for_types(app):
    others = [package for package in PACKAGES if package != app]
    violations = {
        path
        for path, text in sources(*others)
        for name in imports(ast.parse(text))
        if f"{name}.".startswith(f"{app}.models.")
    }
    assert violations == set()


def test_the_developers_commands_need_the_standard_library_only():
    # devtools/fcm runs below manage.py.
    files = [(ROOT / "dev.py"), *(ROOT / "devtools").glob("*.py")]
    trees = [ast.parse(file.read_text()) for file in files]
    used = {name.partition(".")[0] for tree in trees for name in imports(tree, for_types=True)}
    assert used - sys.stdlib_module_names == {"devtools"}


def own_names(app: str) -> tuple[set[str], set[str]]:
    """The tables of an app and their columns."""
    models = [model for model in apps.get_models() if model.__module__.split(".")[0] == app]
    columns = {field.column for model in models for field in model._meta.concrete_fields}
    return {model._meta.db_table for model in models}, columns


def texts(source: str) -> Iterator[str]:
    """The strings of a file that are not docstrings; of an f-string what it says itself."""
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


@pytest.mark.parametrize("app", APPS)
def test_sql_names_tables_and_columns_of_its_own_app_only(app):
    _, columns = own_names(app)
    others = [own_names(other) for other in APPS if other != app]
    foreign_tables = set[str]().union(*(names for names, _ in others))
    foreign_columns = set[str]().union(*(names for _, names in others)) - columns
    named = re.compile(rf"\b({'|'.join(sorted(foreign_tables))})\b|\b[a-z]+\.({'|'.join(sorted(foreign_columns))})\b")
    back_door = re.compile(r"get_field\([^)]*\)\.related_model|get_user_model\(\)\._meta")
    with_sql = [
        (path, source)
        for path, source in sources(app)
        if re.search(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\b", source)
    ]
    violations = [(path, text) for path, source in with_sql for text in texts(source) if named.search(text)]
    violations += [(path, "_meta of another app") for path, source in sources(app) if back_door.search(source)]
    assert violations == []


def test_no_app_names_the_product_or_a_path_of_the_project():
    """Names of loggers and metrics apart; paths come from the named routes."""
    named = re.compile(r"\bParley\b|/api/v1")
    found = [(path, text) for path, source in sources(*APPS) for text in texts(source) if named.search(text)]
    for app in APPS:
        for path in (ROOT / app / "templates").rglob("*.*"):
            found += [(path.name, match[0]) for match in named.finditer(path.read_text(encoding="utf-8"))]
    assert found == []


def test_every_kind_of_message_between_processes_has_its_handler():
    handlers = {name for name in vars(RealtimeConsumer) if name.startswith("on_")} - {"on_message"}
    types = {get_args(get_type_hints(kind)["type"])[0] for kind in get_args(wakeups.Message)}
    assert handlers == {f"on_{type_}" for type_ in types}
