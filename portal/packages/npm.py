"""The JavaScript SDK as an npm package, made of the files in static/sdk. The same files give the same bytes."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from core.version import VERSION

NAME = "parley"
SOURCES = settings.BASE_DIR / "static" / "sdk"
LICENSE = settings.BASE_DIR / "LICENSE"
ENTRIES = {".": "parley", "./react": "react", "./calls": "calls"}
# npm unpacks whatever the first folder is called; its own archives call it so.
ROOT = "package"
README = """# parley

The SDK of this service for browsers, Node 20 or newer and workers: accounts, messages, notifications and calls, a store of
their state, and hooks for React 18 or newer. The guide is at `/docs/javascript` of the service.
"""


def file_name() -> str:
    return f"{NAME}-{VERSION}.tgz"


def archive() -> bytes:
    paths = sorted(path for path in SOURCES.rglob("*") if path.suffix in {".js", ".ts"})
    return _packed(VERSION, tuple((path, path.stat().st_mtime_ns) for path in [*paths, LICENSE]))


@lru_cache(maxsize=1)
def _packed(version: str, changed: tuple[tuple[Path, int], ...]) -> bytes:
    files = {"package.json": json.dumps(manifest(version), indent=2).encode(), "README.md": README.encode()}
    for path, _ in changed:
        name = path.name if path == LICENSE else path.relative_to(SOURCES).as_posix()
        files[name] = path.read_bytes()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"{ROOT}/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


def manifest(version: str) -> dict[str, Any]:
    return {
        "name": NAME,
        "version": version,
        "description": "Accounts, messages, notifications and calls of one service, for browsers and Node.",
        "license": "MIT",
        "type": "module",
        "sideEffects": False,
        "main": "./parley.js",
        "types": "./parley.d.ts",
        "exports": {
            **{path: {"types": f"./{name}.d.ts", "default": f"./{name}.js"} for path, name in ENTRIES.items()},
            "./package.json": "./package.json",
        },
        "engines": {"node": ">=20"},
        "peerDependencies": {"react": ">=18"},
        "peerDependenciesMeta": {"react": {"optional": True}},
    }
