"""The SDK's types compile under --strict, and mean what an app expects."""

import subprocess
from pathlib import Path

import pytest

from tests.node import installed, needs_npm
from tests.server import ROOT

SOURCES = Path(__file__).with_name("types")
CACHE = ROOT / "var" / "sdk-types"


@pytest.mark.once
@needs_npm
@pytest.mark.timeout(300)
def test_the_types_compile_under_strict():
    done = compile_with_typescript(SOURCES / "use.mts", ROOT / "static" / "sdk" / "parley.d.ts")
    assert done.stdout + done.stderr == ""
    assert done.returncode == 0


def compile_with_typescript(*files):
    compiler = installed(SOURCES, CACHE) / "node_modules" / ".bin" / "tsc"
    options = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable"]
    command = [str(compiler), *options, "--typeRoots", str(CACHE / "none"), *map(str, files)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
