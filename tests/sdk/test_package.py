"""The package of the SDK, as npm installs it from a running instance."""

import base64
import hashlib
import io
import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from core.version import VERSION
from portal import packages
from tests.node import NODE, installed, needs_node, needs_npm
from tests.sdk.node import socket_flag
from tests.server import ROOT

SOURCES = Path(__file__).with_name("package")
REACT = ("react18", "react19")

pytestmark = [pytest.mark.once, pytest.mark.timeout(600)]


def sha512(content):
    return "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()


def test_the_list_names_what_can_be_installed(client):
    listing = client.get("/sdk/").json()
    assert (listing["ok"], listing["version"]) == (True, VERSION)
    file = next(file for file in listing["files"] if file["name"] == f"parley-{VERSION}.tgz")
    reply = client.get(file["url"])
    assert (file["version"], file["size"], file["integrity"]) == (VERSION, len(reply.content), sha512(reply.content))
    assert "immutable" in reply["Cache-Control"]
    current = client.get("/sdk/parley.tgz")
    assert (current.content, current["Cache-Control"]) == (reply.content, "no-cache")
    assert client.get("/sdk").headers["Location"] == "/sdk/"
    for name in ("parley-0.0.1.tgz", "parley-.tgz", "..", "settings.py"):
        assert client.get(f"/sdk/{name}").status_code == 404, name


def test_files_that_were_made_are_listed(client, tmp_path, monkeypatch):
    """Packages of earlier versions and of other languages, not what else lies there."""
    monkeypatch.setattr(packages, "FOLDER", tmp_path)
    for name in ("parley-0.9.0.tgz", "parley_client-0.9.1-py3-none-any.whl", "notes.txt", f"parley-{VERSION}.tgz"):
        (tmp_path / name).write_bytes(b"made earlier")
    files = {file["name"]: file for file in client.get("/sdk/").json()["files"]}
    assert list(files) == [f"parley-{VERSION}.tgz", "parley_client-0.9.1-py3-none-any.whl", "parley-0.9.0.tgz"]
    assert files["parley-0.9.0.tgz"]["integrity"] == sha512(b"made earlier")
    assert client.get("/sdk/parley-0.9.0.tgz").content == b"made earlier"
    # The package of the version that runs is made of the files that are served.
    assert client.get(f"/sdk/parley-{VERSION}.tgz").content != b"made earlier"


def test_the_package_holds_the_files_that_are_served(client):
    with tarfile.open(fileobj=io.BytesIO(client.get("/sdk/parley.tgz").content)) as tar:
        files = {name: tar.extractfile(name).read() for name in tar.getnames()}
    manifest = json.loads(files.pop("package/package.json"))
    assert (manifest["name"], manifest["version"], manifest["sideEffects"]) == ("parley", VERSION, False)
    for target in manifest["exports"].values():
        for path in target.values() if isinstance(target, dict) else []:
            assert f"package/{path[2:]}" in files, path
    assert {"package/LICENSE", "package/README.md"} <= set(files)
    for name in ("parley.js", "parley.d.ts", "parley/store/messages.js"):
        assert files[f"package/{name}"] == (ROOT / "static/sdk" / name).read_bytes()
    # The package does not hold a copy of React or of anything else.
    assert "dependencies" not in manifest
    assert all(b"node_modules" not in content for content in files.values())


def project(server, folder, react):
    """A project with this version of React, and the package of the running instance."""
    sources = installed(SOURCES / react, ROOT / "var" / f"sdk-{react}")
    shutil.copytree(sources, folder, symlinks=True)
    for path in SOURCES.iterdir():
        if path.suffix == ".mts" or path.suffix == ".mjs":
            shutil.copy(path, folder)
    address = f"{server.base}/sdk/parley-{VERSION}.tgz"
    run(["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts", address], folder)
    lock = json.loads((folder / "package-lock.json").read_text())["packages"]["node_modules/parley"]
    listing = packages.packages()[f"parley-{VERSION}.tgz"]
    assert (lock["resolved"], lock["integrity"]) == (address, listing.integrity)
    return folder


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


@needs_node
@needs_npm
@pytest.mark.parametrize("react", REACT)
def test_it_works_in_node_and_renders_on_a_server(server, tmp_path, react):
    folder = project(server, tmp_path / "project", react)
    shown = json.loads(run([NODE, *socket_flag(), "--no-warnings", "node.mjs"], folder))
    assert shown.pop("html") == '<p>[null,false,null,"none",null,0,0,null,null,"offline",null,"unknown"]</p>'
    assert "ParleyProvider" in shown.pop("withoutProvider")
    assert shown == {"version": VERSION, "fromWorker": VERSION, "limit": 4096, "isError": True, "calls": 2}
    compiles_under_strict(folder)
    is_bundled(folder)


def compiles_under_strict(folder):
    """Also without the DOM, and with the types of the package checked themselves."""
    options = {
        "strict": True,
        "exactOptionalPropertyTypes": True,
        "noEmit": True,
        "target": "es2022",
        "module": "nodenext",
        "lib": ["es2022"],
        "types": [],
    }
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": ["use.mts"]}))
    run(["npx", "tsc"], folder)


def is_bundled(folder):
    """With the parts that are loaded later as files of their own, and without React."""
    (folder / "entry.js").write_text('export * from "parley";\nexport * from "parley/react";\n')
    options = {"lib": {"entry": "entry.js", "formats": ["es"]}, "rollupOptions": {"external": ["react"]}}
    (folder / "vite.config.mjs").write_text(f"export default {{ build: {json.dumps(options)} }};\n")
    run(["npx", "vite", "build", "--logLevel", "warn"], folder)
    made = {path.name: path.read_text() for path in (folder / "dist").glob("*.*js")}
    assert len(made) >= 3, list(made)
    assert not any("importAgain(" in text and '"./link.js"' in text for text in made.values())
    assert any('from "react"' in text for text in made.values())
