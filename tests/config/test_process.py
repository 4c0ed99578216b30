"""What an HTTP worker loads, and what it gives back."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
UNUSED_LIBRARIES = (
    "twisted", "daphne", "autobahn", "OpenSSL", "opentelemetry", "qrcode", "emoji", "sentry_sdk", "uvicorn", "pytest", "jinja2", "pygments", "markdown_it", "PIL",
    "botocore", "granian",
)  # fmt: skip


def in_a_process(program, tmp_path, **env):
    """What the program prints as JSON, in a fresh process with the settings of a laptop."""
    own = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DEBUG": "1",
        "VAR_DIR": str(tmp_path),
        "PATH": os.environ["PATH"],
    }
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=own | env, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_http_worker_loads_no_unused_libraries(tmp_path):
    program = (
        "import config.wsgi, json, sys;"
        f"print(json.dumps([name for name in {UNUSED_LIBRARIES} if sys.modules.get(name) is not None]))"
    )
    assert in_a_process(program, tmp_path) == []


def test_an_http_worker_has_loaded_its_views(tmp_path):
    program = (
        "import config.wsgi, gc, json, sys;"
        "print(json.dumps(['messaging.viewsets' in sys.modules, gc.get_freeze_count() > 100_000]))"
    )
    assert in_a_process(program, tmp_path) == [True, True]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_the_memory_of_hashes_is_given_back(tmp_path):
    """Each of eight threads makes a hash of 19 MiB; none of them keeps it."""
    program = """
import json, os, threading
import config.wsgi
from django.contrib.auth.hashers import make_password

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1_048_576

def hash_twice():
    make_password("correct horse 9"), make_password("correct horse 9")

hash_twice()
before = resident()
threads = [threading.Thread(target=hash_twice) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(resident() - before))
"""
    assert in_a_process(program, tmp_path) < 19


def has_huge_pages():
    """Whether glibc can ask for them (2.35) and the kernel grants them."""
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    name, version = platform.libc_ver()
    is_new = name == "glibc" and [int(part) for part in version.split(".")] >= [2, 35]
    return is_new and setting.exists() and "[never]" not in setting.read_text()


@pytest.mark.skipif(not has_huge_pages(), reason="needs huge pages")
def test_a_hash_gets_huge_pages(tmp_path):
    """With the environment of the systemd unit; 19 MiB are 4,864 small pages."""
    program = """
import json, resource
import config.wsgi
from django.contrib.auth.hashers import make_password

make_password("correct horse 9")
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
make_password("correct horse 9")
print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before))
"""
    unit = (ROOT / "deploy/systemd/parley-http@.service").read_text()
    name, _, value = unit.partition("\nEnvironment=")[2].partition("\n")[0].partition("=")
    assert in_a_process(program, tmp_path, **{name: value}) < 2_000


def test_runserver_answers_sockets_too(tmp_path):
    program = """
import json, sys
sys.argv = ["manage.py", "runserver"]
import django
django.setup()
from django.core.management import get_commands
print(json.dumps(get_commands()["runserver"]))
"""
    assert in_a_process(program, tmp_path) == "daphne"
