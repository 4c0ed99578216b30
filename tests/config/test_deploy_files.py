"""Every file in deploy/ as it stands, started or read by the program that it is for; and what never leaves with it: secrets in
images, in version control and in logs."""

import ctypes
import fnmatch
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import yaml
from django.core.management import get_commands
from django.urls import get_resolver
from django.urls.resolvers import URLPattern

from tests.fleet.server_fixtures import at_port, unit_command
from tests.fleet.services import Proxy, system_binary
from tests.images import corpus
from tests.images.test_service_under_uploads import token_of
from tests.server import ROOT, RunningServer, free_port
from tests.waiting import wait_for

pytestmark = pytest.mark.once

DEPLOY = ROOT / "deploy"
TOKEN = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCde"
# Each file, and the test that gives it to its program.
HELD_BY = {
    "Containerfile": "test_the_image_holds_what_the_service_needs_and_no_secret",
    "compose.yaml": "test_compose_names_what_exists",
    "grafana/parley.json": "tests/config/test_monitoring.py",
    "kubernetes/*.yaml": "tests/config/test_kubernetes.py",
    "nginx.conf": "test_nginx_takes_it_and_logs_no_token",
    "parley.env.example": "tests/fleet",
    "pgbouncer.ini": "tests/fleet",
    "prometheus/*.yml": "tests/config/test_prometheus.py",
    "sdk/*": "tests/sdk/test_generators.py",
    "sysctl.conf": "test_the_kernel_knows_the_settings",
    "systemd/*": "test_systemd_takes_the_units",
    "turnserver.conf": "tests/config/test_turnserver_conf.py",
}


def test_every_file_has_a_test_with_its_program():
    names = [path.relative_to(DEPLOY).as_posix() for path in DEPLOY.rglob("*") if path.is_file()]
    ignored = set(git("check-ignore", *[f"deploy/{name}" for name in names]).splitlines())
    mine = [name for name in names if f"deploy/{name}" not in ignored]
    assert [name for name in mine if not any(fnmatch.fnmatch(name, pattern) for pattern in HELD_BY)] == []
    for test in HELD_BY.values():
        assert (ROOT / test).exists() or test in globals(), test


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr  # 1: nothing is ignored
    return done.stdout


# --- The proxy -----------------------------------------------------------------------------------------


def routes_with_a_token() -> list[str]:
    """The paths below which a secret stands, with one in its place."""

    def walk(patterns, prefix):
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLPattern):
                yield route
            else:
                yield from walk(pattern.url_patterns, route)

    found = [route for route in walk(get_resolver().url_patterns, "/") if "<str:token>" in route]
    assert len(found) >= 3
    return [route.replace("<str:token>", TOKEN) for route in found]


def test_no_log_format_has_what_may_hold_a_secret():
    text = (DEPLOY / "nginx.conf").read_text()
    formats = re.findall(r"log_format\s+(\w+)\s+'(.*)'", text)
    assert formats
    for _, log_format in formats:
        names = set(re.findall(r"\$(\w+)", log_format))
        assert not names & {
            "uri",
            "request",
            "request_uri",
            "document_uri",
            "args",
            "query_string",
            "http_referer",
            "is_args",
        }
    servers = re.split(r"^server \{", text, flags=re.MULTILINE)[1:]
    named = {name for name, _ in formats}
    for server in servers:
        # Without one the format of Debian's nginx.conf would hold, which has the whole request.
        logs = re.findall(r"^    access_log \S+ (\w+);", server, re.MULTILINE)
        assert logs and set(logs) <= named


@pytest.mark.skipif(not system_binary("nginx") or not shutil.which("openssl"), reason="needs nginx and openssl")
def test_nginx_takes_it_and_logs_no_token(tmp_path):
    """With processes that do not answer: then nginx writes about each request into its error log, too."""
    tmp_path.chmod(0o755)
    dead = free_port()
    nginx = Proxy(tmp_path, http=[dead, dead], sockets=[dead, dead], media=tmp_path)
    checked = subprocess.run([*nginx.process.command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "warn" not in checked.stderr, checked.stderr
    nginx.process.start()
    try:
        context = ssl.create_default_context(cafile=nginx.certificate)
        paths = [*routes_with_a_token(), "/api/v1/auth/me"]
        for path in paths:
            for port, tls in ((nginx.port, True), (nginx.plain_port, False)):
                with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
                    client = context.wrap_socket(plain, server_hostname="127.0.0.1") if tls else plain
                    client.sendall(
                        f"GET {path}?s={TOKEN} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
                    )
                    status = client.recv(4096).split()[1]
                    assert status == (b"503" if tls else b"301")
    finally:
        nginx.stop()
    lines = (tmp_path / "access.log").read_text()
    assert len(lines.splitlines()) == 2 * len(paths) and '"GET /email-undo/-" 503' in lines
    assert '"GET /api/v1/auth/me" 503' in lines
    written = "\n".join(path.read_text(errors="replace") for path in tmp_path.rglob("*.log"))
    assert "/api/v1/auth/me" in nginx.errors()
    # The query of another path is quoted by the error log; no path of ours takes a secret there.
    assert TOKEN not in re.sub(rf"/api/v1/auth/me\?s={TOKEN}", "", written)


def test_the_ingress_logs_no_token_and_needs_no_snippet():
    ingresses = list(yaml.safe_load_all((DEPLOY / "kubernetes/ingress.yaml").read_text()))
    unlogged = []
    for ingress in ingresses:
        annotations = ingress["metadata"]["annotations"]
        # The controller refuses snippets unless its administrator allows them.
        assert not [name for name in annotations if "snippet" in name]
        if annotations.get("nginx.ingress.kubernetes.io/enable-access-log") == "false":
            unlogged += [path["path"] for rule in ingress["spec"]["rules"] for path in rule["http"]["paths"]]
    assert [path for path in routes_with_a_token() if not path.startswith(tuple(unlogged))] == []


# --- The pods --------------------------------------------------------------------------------------------


def test_pods_have_no_token_of_the_cluster_and_only_the_ingress_reaches_them():
    documents = [
        document
        for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text())
    ]
    pods = []
    for document in documents:
        spec = document.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        if "template" in spec:
            pods.append(spec["template"])
    assert len(pods) == 6
    assert all(pod["spec"]["automountServiceAccountToken"] is False for pod in pods)
    (policy,) = [document for document in documents if document["kind"] == "NetworkPolicy"]
    labels = policy["spec"]["podSelector"]["matchLabels"].items()
    assert all(labels <= pod["metadata"]["labels"].items() for pod in pods)
    assert policy["spec"]["policyTypes"] == ["Ingress"]
    assert all(rule["from"] and rule["ports"] for rule in policy["spec"]["ingress"])
    (kustomization,) = [document for document in documents if document["kind"] == "Kustomization"]
    assert all(image["newTag"] not in ("", "latest") for image in kustomization["images"])


# --- The units ---------------------------------------------------------------------------------------------

UNITS = sorted((DEPLOY / "systemd").glob("*"))
needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze (systemd)")


@needs_systemd
def test_systemd_takes_the_units(tmp_path):
    """As they stand, but for the programs, which must exist, and the user."""
    for unit in UNITS:
        text = re.sub(r"/srv/parley/\.venv/bin/\w+", "/bin/true", unit.read_text())
        (tmp_path / unit.name).write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", *[str(tmp_path / unit.name) for unit in UNITS]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if str(tmp_path) in line]
    assert complaints == []


@needs_systemd
@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.suffix == ".service"], ids=lambda unit: unit.name)
def test_a_service_is_confined(unit):
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout[-600:] + done.stderr


def system_calls(*groups: str) -> set[str]:
    """The calls in groups of systemd, without those of their subgroups' names."""
    found: set[str] = set()
    for group in groups:
        done = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True)
        names = [line.strip() for line in done.stdout.splitlines()[1:] if not line.strip().startswith("#")]
        found |= system_calls(*[name for name in names if name.startswith("@")])
        found |= {name for name in names if name and not name.startswith("@")}
    return found


# Loads the filter of a unit into itself, then becomes the command: what systemd does.
CONFINED = """
import ctypes, json, os, sys
library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
library.seccomp_init.restype = ctypes.c_void_p
library.seccomp_rule_add.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint]
library.seccomp_load.argtypes = [ctypes.c_void_p]
context = library.seccomp_init(0x00050000 | 1)  # EPERM
for name in json.loads(sys.argv[1]):
    number = library.seccomp_syscall_resolve_name(name.encode())
    if number >= 0:
        assert library.seccomp_rule_add(context, 0x7FFF0000, number, 0) == 0
assert library.seccomp_load(context) == 0
os.execv(sys.argv[2], sys.argv[2:])
"""


def has_libseccomp() -> bool:
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return False
    return True


@needs_systemd
@pytest.mark.skipif(not has_libseccomp(), reason="needs libseccomp2")
@pytest.mark.timeout(180)
@pytest.mark.parametrize("kind", ["sockets", "http"])
@pytest.mark.slow
def test_the_service_works_with_the_system_calls_of_its_unit(tmp_path, kind):
    """Sign-in, which hashes in threads, and a picture, which processes with limits of their own decode."""
    unit = (DEPLOY / f"systemd/parley-{kind}@.service").read_text()
    allowed: set[str] = system_calls("@default")
    for line in re.findall(r"^SystemCallFilter=(.+)$", unit, re.MULTILINE):
        names = line.removeprefix("~").split()
        allowed = allowed - system_calls(*names) if line.startswith("~") else allowed | system_calls(*names)
    assert "socket" in allowed and "chroot" not in allowed and "ptrace" not in allowed
    server = RunningServer(tmp_path)
    server.start(demo=True)
    server.stop()
    program, *arguments = at_port(unit_command(kind), server.port)
    command = [sys.executable, "-c", CONFINED, json.dumps(sorted(allowed)), program, *arguments]
    with server.log.open("ab") as log:
        server.process = subprocess.Popen(
            command, cwd=ROOT, env=server.environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        wait_for(server.answers, what="a confined server", seconds=60)
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        assert re.search(r"^Seccomp:\s+2$", status, re.MULTILINE)
        headers = {"Authorization": f"Bearer {token_of(server, 'Alice')}"}
        files = {"file": ("a.jpg", corpus.jpeg())}
        answer = httpx.put(f"{server.base}/api/v1/profile/avatar", files=files, headers=headers, timeout=60)
        assert answer.status_code == 200, answer.text + server.output()
    finally:
        server.kill()


# --- The image ---------------------------------------------------------------------------------------------

SECRET_FILES = [
    ".env",
    ".env.local",
    "deploy/.env",
    "deploy/parley.env",
    "deploy/fcm.json",
    "deploy/fcm-production.json",
    "deploy/my-service-account.json",
    "deploy/kubernetes/secret.yaml",
    "deploy/kubernetes/secret.production.yaml",
    "deploy/kubernetes/my-secrets.yaml",
    "deploy/privkey.pem",
    "deploy/tls/fullchain.pem",
    "deploy/AuthKey_ABC123.p8",
    "deploy/push.p12",
    "deploy/tls.key",
    "deploy/userlist.txt",
    "var/parley.sqlite3",
    "var/secret_key.txt",
    "var/mail/mail.log",
    "config/local.env",
    "accounts/AuthKey_ABC123.p8",
    "deploy/parley.env.production",
    "config/local.env.backup",
    "deploy/parley-firebase-adminsdk-x1y2z.json",
    "deploy/kubernetes/secret.yml",
    "deploy/kubernetes/prod/db-secrets.yml",
    "deploy/upload.keystore",
    "deploy/.pgpass",
    "docs/.netrc",
    "portal/parley.sqlite3-wal",
    "static/parley.dump",
]


def dockerignore_takes(path: str) -> bool:
    """Whether a build leaves a path out: patterns as docker and podman read them, the last one that fits decides."""
    left_out = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!")
        parts = [re.escape(part).replace(r"\*\*", "\0").replace(r"\*", "[^/]*") for part in pattern.split("/")]
        expression = "/".join(parts).replace("\0/", "(?:.*/)?").replace("\0", ".*")
        if re.fullmatch(rf"{expression}(/.*)?", path):
            left_out = not line.startswith("!")
    return left_out


def copied() -> list[str]:
    """What the image takes from this folder."""
    text = (DEPLOY / "Containerfile").read_text()
    sources = [word for line in re.findall(r"^COPY (.+)$", text, re.MULTILINE) for word in line.split()[:-1]]
    assert len(sources) > 10
    return sources


@pytest.mark.parametrize("path", SECRET_FILES)
def test_no_secret_gets_into_the_image_or_version_control(path):
    assert git("check-ignore", path).strip() == path
    assert dockerignore_takes(path) or not any(path == source or path.startswith(f"{source}/") for source in copied())
    assert dockerignore_takes(path)


def test_what_is_tracked_is_not_ignored():
    assert git("ls-files", "--cached", "--ignored", "--exclude-standard") == ""
    assert git("check-ignore", "deploy/kubernetes/secret.example.yaml", "deploy/parley.env.example") == ""


@pytest.mark.slow
def test_the_image_holds_what_the_service_needs_and_no_secret(tmp_path):
    """The build by hand, with the same files: it compiles, its checks pass, and its pages have their texts."""
    tracked = git("ls-files").splitlines()
    sources = [source for source in copied() if source != "requirements.txt"]
    assert all((ROOT / source).exists() for source in sources)
    assert "." not in sources
    image = tmp_path / "image"
    for name in tracked:
        if any(name == source or name.startswith(f"{source}/") for source in sources) and not dockerignore_takes(name):
            (image / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, image / name)
    (compiled,) = re.findall(r"compileall -q (.+)$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    packages = {name.partition("/")[0] for name in tracked if name.endswith("/__init__.py")} - {"tests", "devtools"}
    assert set(compiled.split()) == packages - {"benchmarks"}
    program = (
        "import django; django.setup(); from django.test import Client; from django.core.management import call_command;"
        "call_command('check'); call_command('migrate', verbosity=0);"
        "import config.wsgi;"
        "print([Client(SERVER_NAME='127.0.0.1').get(p).status_code for p in"
        " ('/docs', '/docs/quickstart', '/docs/changelog', '/docs/security', '/app/', '/api/docs', '/readyz')])"
    )
    environment = {"PATH": os.environ["PATH"], "DEBUG": "1", "VAR_DIR": str(tmp_path / "var")}
    environment["DJANGO_SETTINGS_MODULE"] = "config.settings"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=image,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith(str([200] * 7)), done.stdout


def test_compose_names_what_exists():
    document = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = document["services"]
    volumes = {str(volume).partition(":")[0] for service in services.values() for volume in service.get("volumes", ())}
    assert volumes == document["volumes"].keys()
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= services.keys()
        if "build" in service:
            assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).exists()
            assert service["read_only"] is True
            words = service.get("command") or []
            commands = re.findall(r"manage\.py,? ([a-z_]+)", " ".join(words))
            assert commands or name == "http"
            assert set(commands) <= set(get_commands())


@pytest.mark.skipif(not system_binary("sysctl"), reason="needs sysctl (procps)")
def test_the_kernel_knows_the_settings():
    lines = [line for line in (DEPLOY / "sysctl.conf").read_text().splitlines() if line and not line.startswith("#")]
    for line in lines:
        name, _, value = line.partition(" = ")
        if not Path("/proc/sys", *name.split(".")).exists():
            pytest.skip(f"this kernel, or this container, has no {name}")
        done = subprocess.run([system_binary("sysctl"), "-n", name], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and done.stdout.strip().isdecimal() and value.isdecimal()
