"""The checks of the JavaScript: their programs come from npm by a lock file, and find what they are there for."""

import json
import re
import shutil
import subprocess

import pytest

from devtools import javascript
from tests.node import needs_npm
from tests.server import ROOT

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def programs():
    if why := javascript.missing():
        pytest.skip(why)


def lint(source, folder):
    """biome with the project's rules on a tree with this one module. Returns its exit code and its words."""
    shutil.copy(ROOT / "biome.jsonc", folder)
    module = folder / "static" / "app" / "example.js"
    module.parent.mkdir(parents=True)
    module.write_text(source)
    command = [javascript.program("biome"), "lint", "--error-on-warnings"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_lock_file_names_no_registry_and_a_checksum_for_each_package():
    packages = json.loads((javascript.SOURCES / "package-lock.json").read_text())["packages"]
    assert len(packages) > 4
    for name, package in packages.items():
        assert "resolved" not in package, name
        assert name == "" or package["integrity"].startswith("sha512-"), name


def test_the_types_are_those_of_the_vendored_libraries():
    versions = json.loads((javascript.SOURCES / "package.json").read_text())["dependencies"]
    vendored = re.findall(r"\| (preact|htm) ([\d.]+) ", (ROOT / "static" / "vendor" / "README.md").read_text())
    assert {name for name, _ in vendored} == {"preact", "htm"}
    for name, version in vendored:
        assert versions[name] == version, name


def test_without_node_the_reason_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install" in javascript.missing()


@pytest.mark.slow
@needs_npm
def test_the_tree_passes(programs):
    for name, command in javascript.checks():
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"


@needs_npm
@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("const unused = 1;\nexport const used = 2;\n", "noUnusedVariables"),
        ('import { t } from "./lib/i18n.js";\n', "noUnusedImports"),
        ("export const is = (value) => value === Number.NaN;\n", "useIsNan"),
    ],
)
def test_a_likely_mistake_is_found(programs, tmp_path, source, rule):
    code, words = lint(source, tmp_path)
    assert code != 0
    assert rule in words


@needs_npm
def test_a_sound_module_passes(programs, tmp_path):
    code, words = lint("export const double = (value) => 2 * value;\n", tmp_path)
    assert code == 0, words


@pytest.mark.slow
@needs_npm
def test_a_wrong_call_of_the_sdk_is_found(programs, tmp_path):
    base = json.dumps(str(javascript.SOURCES / "tsconfig.json"))
    sdk = json.dumps(str(ROOT / "static" / "sdk" / "parley.js"))
    (tmp_path / "example.js").write_text(f"import {{ Parley }} from {sdk};\nnew Parley().messages.sendd({{}});\n")
    (tmp_path / "tsconfig.json").write_text(
        f'{{"extends": {base}, "compilerOptions": {{"incremental": false, "tsBuildInfoFile": null}}, "include": ["*.js"]}}'
    )
    command = [javascript.program("tsc"), "--project", str(tmp_path), "--pretty", "false"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "'sendd' does not exist" in done.stdout
