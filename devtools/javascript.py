"""The programs for the JavaScript, installed from npm into var/ when missing: biome (format and lint), tsc (types) and
Rollup (the few files that the web client is served in)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from devtools.environment import ROOT, report

SOURCES = ROOT / "devtools" / "client"
PLACE = ROOT / "var" / "tools" / "client"
FILES = ("package.json", "package-lock.json")
NPM_OPTIONS = (
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--fetch-retries",
    "1",
    "--fetch-retry-mintimeout",
    "1000",
)


def missing() -> str:
    """Why the checks cannot run here, or an empty text. Installs the programs when they are not those of the lock file."""
    if shutil.which("node") is None:
        return "Node is not installed (apt-get install nodejs npm)"
    if installed() == wanted():
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not installed (apt-get install npm)"
    report("Installing biome, TypeScript and Rollup from npm: some seconds, 115 MB on disk.")
    PLACE.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copy(SOURCES / name, PLACE / name)
    # Outlives an installation that was interrupted only when that ended well.
    marker().unlink(missing_ok=True)
    done = subprocess.run(
        [npm, "ci", *NPM_OPTIONS, "--prefix", str(PLACE)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        return f"npm could not install biome, TypeScript and Rollup: {last[0]}"
    marker().write_bytes(wanted())
    return ""


def wanted() -> bytes:
    return (SOURCES / "package-lock.json").read_bytes()


def installed() -> bytes:
    """The lock file that the programs were installed from; empty without them."""
    try:
        return marker().read_bytes()
    except OSError:
        return b""


def marker() -> Path:
    return PLACE / "installed-lock.json"


def program(name: str) -> str:
    return str(PLACE / "node_modules" / ".bin" / name)


def bundle(*options: str) -> tuple[str, list[str]]:
    rollup = str(PLACE / "node_modules" / "rollup")
    return ("static/built", ["node", "devtools/client/bundle.mjs", rollup, "static", *options])


def checks() -> list[tuple[str, list[str]]]:
    return [
        ("biome", [program("biome"), "check", "--error-on-warnings"]),
        ("tsc", [program("tsc"), "--project", "devtools/client", "--pretty", "false"]),
    ]


def repairs() -> list[tuple[str, list[str]]]:
    return [("biome check --write", [program("biome"), "check", "--write"])]
