"""The modules of the web client, and the files that a browser loads them from.

`static/built/` holds all modules in few files, so that a page needs few requests; `dev.py fix` writes it. It is used
while it was made of the sources as they are. After a change each module is a file of its own, so a developer sees the
change with the next reload, without a build step.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage

ROOT = settings.BASE_DIR / "static"
MAIN = "app/main.js"
BUILT = "built/"
BUILT_FOLDER = ROOT / BUILT
BUILT_MAIN = "main.js"
PACKAGES = {"preact": "vendor/preact.mjs", "preact/hooks": "vendor/preact-hooks.mjs", "htm": "vendor/htm.mjs"}
OWN_FOLDERS = ("app", "vendor")
RELATIVE = re.compile(r"""["'](\.\.?/[\w./-]+\.m?js)["']""")
IMPORT = re.compile(r"""^\s*(?:import|export)\b[^"';]*?from\s*["']([^"']+)["']|^\s*import\s*["']([^"']+)["']""", re.M)

# By its name below `built/`: the `module` that a file stands for, its `imports`, and its `sources` with the beginning
# of their SHA-256.
Manifest = dict[str, dict[str, Any]]
ImportMap = dict[str, dict[str, str]]


def scripts() -> tuple[str, list[str], ImportMap]:
    """The script of the page, everything that it needs before it runs, itself included, and the import map.

    The map leads from the plain addresses of modules to the files that stand for them, under their hashed names.
    """
    manifest = current_manifest()
    if manifest is None:
        return MAIN, imported(MAIN), import_map({name: name for name in modules()})
    files = {BUILT + name: BUILT + name for name in manifest}
    reachable = {file["module"]: BUILT + name for name, file in manifest.items() if file["module"]}
    needed = [BUILT + name for name in (BUILT_MAIN, *manifest[BUILT_MAIN]["imports"])]
    return BUILT + BUILT_MAIN, needed, import_map(reachable | files)


def current_manifest() -> Manifest | None:
    """What `static/built/` holds; None when it is missing, or was made of other sources."""
    try:
        manifest: Manifest = json.loads((BUILT_FOLDER / "manifest.json").read_bytes())
    except OSError:
        return None
    sources = {name: digest for file in manifest.values() for name, digest in file["sources"].items()}
    return manifest if all(has_digest(name, digest) for name, digest in sources.items()) else None


def has_digest(name: str, digest: str) -> bool:
    stem, extension = os.path.splitext(name)
    return staticfiles_storage.url(name) == f"{settings.STATIC_URL}{stem}.{digest}{extension}"


def import_map(files: dict[str, str]) -> ImportMap:
    """`files`: the file that stands for it, by the name of a module."""
    hashed = {settings.STATIC_URL + name: staticfiles_storage.url(file) for name, file in sorted(files.items())}
    packages = {name: staticfiles_storage.url(file) for name, file in PACKAGES.items()}
    return {"imports": packages | hashed}


def modules() -> list[str]:
    """Static names of all modules of the client: its own, and what they name of the SDK, at once or later."""
    waiting = [path for folder in OWN_FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in {".js", ".mjs"}]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        waiting += [(path.parent / name).resolve() for name in RELATIVE.findall(path.read_text(encoding="utf-8"))]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def imported(name: str) -> list[str]:
    """Every module that `name` needs before it runs, itself included; dynamic imports are left out."""
    modules: list[str] = []
    waiting = [name]
    while waiting:
        current = waiting.pop(0)
        if current in modules or not (ROOT / current).is_file():
            continue
        modules.append(current)
        for match in IMPORT.finditer((ROOT / current).read_text(encoding="utf-8")):
            target = match[1] or match[2]
            relative = Path(current).parent / target
            waiting.append(PACKAGES.get(target) or posixpath.normpath(relative.as_posix()))
    return modules
