"""The SDK's types compile under --strict, mean what an app expects, and hold for the JavaScript of the guides."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import guides
from tests.node import installed, needs_npm
from tests.server import ROOT

pytestmark = [pytest.mark.once, needs_npm, pytest.mark.timeout(300)]
SOURCES = Path(__file__).with_name("types")
CACHE = ROOT / "var" / "sdk-types"
SDK = ROOT / "static" / "sdk"


def compile_with_typescript(*files):
    compiler = installed(SOURCES, CACHE) / "node_modules" / ".bin" / "tsc"
    options = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable"]
    command = [str(compiler), *options, "--typeRoots", str(CACHE / "none"), *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout + done.stderr == ""
    assert done.returncode == 0


def test_the_types_compile_under_strict():
    compile_with_typescript(SOURCES / "use.mts", SDK / "parley.d.ts")


def test_every_code_that_the_sdk_makes_has_its_type(tmp_path):
    text = "\n".join(path.read_text() for path in SDK.rglob("*.js"))
    codes = set(re.findall(r'new ParleyError\("(\w+)"', text)) | {"bad_response"}
    assert len(codes) > 5
    lines = [f'import type {{ ParleyErrorCode }} from "{SDK}/parley.js";']
    lines += [f'export const {code}: ParleyErrorCode = "{code}";' for code in sorted(codes)]
    (tmp_path / "codes.mts").write_text("\n".join(lines))
    compile_with_typescript(tmp_path / "codes.mts")


# --- The guides -------------------------------------------------------------------------------------

# What tests/flows/test_guides.py sets before it runs the blocks.
VALUES = (
    "BASE", "TOKEN", "EMAIL", "PASSWORD", "TWO_STEP_EMAIL", "SECOND_PASSWORD", "CONVERSATION", "NEW_EMAIL", "NEW_PASSWORD",
    "SEEN_CODE",
)  # fmt: skip


def test_no_block_of_a_page_stays_out_of_the_tests():
    """A language that is not known, a fence of another form, or a program outside of the guides fails here."""
    walked = set()
    for page in guides.pages():
        text = page.read_text(encoding="utf-8")
        fences = [line for line in text.splitlines() if guides.FENCE.match(line)]
        found = guides.BLOCK.findall(text)
        assert len(fences) == 2 * len(found), f"{page}: a fence that no test reads"
        for language, _code in found:
            assert language in guides.PROGRAMS | guides.OTHERS, f"{page}: {language}"
            if language in guides.PROGRAMS:
                assert page.parent == guides.GUIDES, f"{page}: the programs of guides alone are compiled"
                walked.add((page.stem, language))
    compiled = {(guide, language) for language in ("js", "python") for guide in guides.scripts(language)}
    assert walked == compiled | set(guides.OWN_TESTS)
    for (guide, _language), test in guides.OWN_TESTS.items():
        text = (ROOT / test).read_text(encoding="utf-8")
        assert f'"{guide}"' in text or f'"{guide}.md"' in text, f"{test} does not read the guide {guide}"


def test_every_block_of_the_javascript_guide_compiles_under_strict(tmp_path):
    """Each as a module of its own, with the values and functions of `types/around.d.ts`."""
    found = guides.blocks("javascript", "javascript", "js", "ts")
    assert len(found) > 5
    for number, block in enumerate(found):
        code = re.sub(r'"/static/sdk/(\w+\.js)"', rf'"{SDK}/\1"', block).replace(
            'from "parley"', f'from "{SDK}/parley.js"'
        )
        uses_class = re.search(r"\bParley(Error)?\b", code) and "import {" not in code
        header = f'import {{ Parley, ParleyError }} from "{SDK}/parley.js";\n' if uses_class else "export {};\n"
        (tmp_path / f"block_{number}.mts").write_text(header + code)
    compile_with_typescript(SOURCES / "around.d.ts", *sorted(tmp_path.glob("*.mts")))


def test_the_javascript_of_the_other_guides_is_checked_under_strict(tmp_path):
    values = "".join(f"declare const {name}: string;\n" for name in VALUES)
    (tmp_path / "values.d.ts").write_text(f"{values}declare const photo: Blob;\n")
    found = guides.scripts("js")
    assert len(found) > 5
    for guide, parts in found.items():
        (tmp_path / f"{guide}.mjs").write_text("\n".join(["export {};", *parts]))
    compile_with_typescript("--allowJs", "--checkJs", *sorted(tmp_path.iterdir()))


def test_the_python_of_the_guides_is_typed(tmp_path):
    found = guides.scripts("python")
    assert len(found) > 5
    for guide, parts in found.items():
        values = [f'{name} = ""' for name in VALUES]
        (tmp_path / f"{guide.replace('-', '_')}.py").write_text("\n".join([*values, *parts]))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
