"""`manage.py sdk`: every language generates; TypeScript, Python and Kotlin are checked by their compilers and run a flow."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from portal.docs.openapi import collection
from portal.management.commands import sdk
from tests import schema
from tests.guides import blocks
from tests.node import installed, needs_npm
from tests.server import ROOT, RunningServer

pytestmark = [pytest.mark.once, pytest.mark.timeout(900)]
FLOWS = Path(__file__).with_name("flows")
KOTLIN = Path(__file__).with_name("kotlin")
# The generators are kept between runs.
VAR = ROOT / "var"


def generate(language, output):
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "DEBUG": "1", "VAR_DIR": str(VAR)}
    command = [sys.executable, "manage.py", "sdk", language, "--output", str(output)]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return output / language


def run(*command, cwd=None, **env):
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A running server: its address, Alice's sign-in and Bob's id, as the flows read them."""
    folder = tmp_path_factory.mktemp("generated")
    server = RunningServer(folder, RATELIMIT_ENABLE="0")
    server.start(demo=True)
    alice, bob = json.loads((folder / "var" / "demo.json").read_text())[:2]
    login = {"email": bob["email"], "password": bob["password"]}
    other = httpx.post(f"{server.base}/api/v1/auth/login", json=login, timeout=30).json()["user"]["id"]
    yield {"BASE": server.base, "EMAIL": alice["email"], "PASSWORD": alice["password"], "OTHER": str(other)}
    server.kill()


@needs_npm
def test_typescript_compiles_under_strict_and_runs(tmp_path, world):
    made = generate("typescript", tmp_path)
    shutil.copy(FLOWS / "flow.mts", made)
    (made / "guide.mts").write_text("\n".join(["declare const token: string;", *blocks("clients", "ts")]))
    (made / "node_modules").symlink_to(VAR / "sdk-tools" / "node" / "node_modules")
    options = "--strict --target es2022 --module nodenext --skipLibCheck --outDir dist --lib es2022,dom --types node"
    compiler = made / "node_modules" / ".bin" / "tsc"
    run(compiler, *options.split(), "flow.mts", "guide.mts", cwd=made)
    assert run("node", "dist/flow.mjs", cwd=made, **world) == "done true\n"


def test_python_is_typed_and_runs(tmp_path, world):
    made = generate("python", tmp_path)
    for flow in ("flow.py", "newer.py"):
        shutil.copy(FLOWS / flow, made)
        run(sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, flow, "parley_client", cwd=made)
        assert run(sys.executable, flow, FLOWS / "newer.json", cwd=made, **world) == "done\n"


@needs_npm
@pytest.mark.parametrize(
    ("language", "file", "text"),
    [
        ("kotlin", "Models.kt", "class SendMessageRequest"),
        ("kotlin", "Models.kt", "DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false"),
        ("swift", "Models.swift", "struct SendMessageRequest"),
        ("dart", "models.dart", "class SendMessageRequest"),
    ],
)
def test_the_models_of_other_languages_generate(tmp_path, language, file, text):
    assert text in (generate(language, tmp_path) / file).read_text()


@needs_npm
@pytest.mark.skipif(shutil.which("java") is None, reason="no Java (apt-get install default-jre-headless)")
def test_the_models_compile_and_run_as_kotlin(tmp_path, settings):
    settings.VAR_DIR = VAR
    # Without the annotations of Jackson: its library for Kotlin is in none of the registries that the tests use.
    sdk.Command().models(tmp_path, "kotlin", "--just-types", "--package", "parley")
    compiler = installed(KOTLIN, VAR / "sdk-tools" / "kotlin") / "node_modules" / "kotlin-compiler"
    made = tmp_path / "models.jar"
    # A short run: the second compiler of the virtual machine would cost more than it gains.
    java = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]
    kotlinc = [
        f"{compiler}/lib/*",
        "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
        "-kotlin-home",
        compiler,
        "-no-reflect",
    ]
    run(*java, *kotlinc, "-d", made, tmp_path / "Models.kt", FLOWS / "Flow.kt")
    library = compiler / "lib" / "kotlin-stdlib.jar"
    output = run(*java, f"{made}:{library}", "parley.FlowKt")
    assert output == "Hello Bob! first-1 a poll diverted poll.opened trophy poll_closed true\n"


def test_the_collection_holds_every_operation():
    made = collection.collection(schema.document())
    names = [request["name"] for folder in made["item"] for request in folder["item"]]
    operations = [one for path in schema.document()["paths"].values() for one in path.values()]
    assert sorted(names) == sorted(one["summary"] for one in operations)
    send = next(one for folder in made["item"] for one in folder["item"] if one["name"] == "Send a text message")
    assert send["request"]["url"]["raw"] == "{{base}}/api/v1/messages/conversations/:conversation_id/messages"
    assert json.loads(send["request"]["body"]["raw"])["client_id"]
