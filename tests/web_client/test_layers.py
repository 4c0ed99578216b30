"""The modules of the client import in one direction, those that are loaded later counted as well."""

import re

import pytest
from django.conf import settings

pytestmark = pytest.mark.once

APP = settings.BASE_DIR / "static" / "app"
COMMENT = re.compile(r"^\s*(?://|/?\*).*$", re.MULTILINE)
# An import, or a name for load(): every string that names a module.
NAME = re.compile(r"""["'`]([\w./-]+\.js)["'`]""")


def edges(source: str, place: str, names: set[str]) -> set[str]:
    """The modules that a module imports, at once or later; `place` is its name."""
    found = set()
    for name in NAME.findall(COMMENT.sub("", source)):
        relative = name.startswith(".")
        path = (APP / place).parent / name if relative else APP / name
        target = path.resolve()
        if target.is_relative_to(APP):
            found.add(target.relative_to(APP).as_posix())
    assert found <= names, f"{place} names what is not there: {sorted(found - names)}"
    return found


def graph() -> dict[str, set[str]]:
    paths = {path.relative_to(APP).as_posix(): path for path in APP.rglob("*.js")}
    return {name: edges(path.read_text(encoding="utf-8"), name, set(paths)) for name, path in paths.items()}


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Modules that reach one another (and modules that import themselves)."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += graph[name]
        reached[start] = seen
    found: list[set[str]] = []
    for name in graph:
        circle = {other for other in reached[name] if name in reached[other]}
        if name in reached[name] and circle not in found:
            found.append(circle)
    return found


def test_no_circle():
    modules = graph()
    assert len(modules) > 60
    # Those that are loaded later are in it.
    assert "pages/landing.js" in modules["routes.js"]
    assert "calls/layer.js" in modules["shell.js"]
    assert [sorted(circle) for circle in circles(modules)] == []


# What each folder may import besides itself. The router is the address of the window: it knows neither client nor state.
FOLDERS = {
    "lib": (),
    "ui": ("lib", "router.js"),
    "state": ("lib", "client.js"),
    # What is opened from a message, as its picture on the whole screen, is loaded then.
    "chat": ("lib", "ui", "state", "calls", "client.js", "config.js", "router.js", "load.js"),
    "calls": ("lib", "ui", "state", "client.js"),
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_imports_what_lies_below_it(folder):
    modules = {name: targets for name, targets in graph().items() if name.startswith(f"{folder}/")}
    assert len(modules) > 5
    allowed = {folder, *FOLDERS[folder]}
    for name, targets in modules.items():
        assert {target.split("/")[0] for target in targets} <= allowed, name


def test_state_draws_nothing():
    """Its hooks tell a component of a change; elements are made elsewhere."""
    for path in (APP / "state").rglob("*.js"):
        assert not re.search(r"\bhtml`|\brender\(|createElement|\binnerHTML\b", path.read_text(encoding="utf-8")), (
            path.name
        )


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]
    assert circles({"a": {"a"}}) == [{"a"}]
    names = {"pages/one.js", "calls/layer.js", "lib/html.js"}
    source = (
        'import { html } from "../lib/html.js";\n// import "./gone.js";\nconst later = () => load("calls/layer.js");'
    )
    assert edges(source, "pages/one.js", names) == {"lib/html.js", "calls/layer.js"}
    assert edges("await import(`./one.js`)", "pages/two.js", names) == {"pages/one.js"}
