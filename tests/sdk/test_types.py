"""The SDK's types compile under --strict, and mean what an app expects."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.node import needs_npm
from tests.server import ROOT

NPM = shutil.which("npm")
SOURCES = Path(__file__).with_name("types")
# Kept between runs, away from the scratch folder of a test.
CACHE = ROOT / "var" / "sdk-types"


@pytest.mark.once
@needs_npm
@pytest.mark.timeout(300)
def test_the_types_compile_under_strict():
    done = compile_with_typescript(SOURCES / "use.mts", ROOT / "static" / "sdk" / "parley.d.ts")
    assert done.stdout + done.stderr == ""
    assert done.returncode == 0


def compile_with_typescript(*files):
    compiler = installed()
    options = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable"]
    command = [str(compiler), *options, "--typeRoots", str(CACHE / "none"), *map(str, files)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def installed():
    """The TypeScript compiler of the lock file's version and checksum."""
    compiler = CACHE / "node_modules" / ".bin" / "tsc"
    lock = (SOURCES / "package-lock.json").read_bytes()
    is_current = compiler.exists() and (CACHE / "package-lock.json").read_bytes() == lock
    if not is_current:
        CACHE.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SOURCES / name, CACHE / name)
        command = [NPM, "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(CACHE)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"npm could not install the compiler: {done.stderr[-2000:]}"
    return compiler
