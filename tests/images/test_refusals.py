"""What is refused is refused in words, at once, and by a process that can do nothing else."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.utils import translation

from core.api.exceptions import ApiError, InvalidImage, UnsupportedMediaType
from core.images import pool
from core.images.structure import Reason
from tests.images import devices

pytestmark = pytest.mark.once


@pytest.mark.parametrize("name", devices.FOREIGN)
def test_another_format_is_named(name):
    called, data = devices.FOREIGN[name]
    with pytest.raises(UnsupportedMediaType) as refused:
        pool.picture(data)
    kind = "files" if called in {"PDF", "MP4", "WebM"} else "pictures"
    assert str(refused.value.detail) == f"{called} {kind} are not supported. Send JPEG, PNG, WebP or GIF."
    with translation.override("de"), pytest.raises(UnsupportedMediaType) as refused:
        pool.picture(data)
    assert called in str(refused.value.detail) and "are not" not in str(refused.value.detail)


@pytest.mark.parametrize(
    "data", [b"MZ" + bytes(200), b"PK\x03\x04" + bytes(200), b"text", b"<html><svg/>", b"\x00" * 40]
)
def test_what_is_not_a_picture_is_told_what_to_send(data):
    with pytest.raises(UnsupportedMediaType) as refused:
        pool.picture(data)
    assert str(refused.value.detail) == "Only JPEG, PNG, WebP and GIF images are accepted."


@pytest.mark.parametrize("name", devices.REFUSED)
def test_the_sentence_says_what_is_wrong(name):
    make, word = devices.REFUSED[name]
    with pytest.raises(InvalidImage) as refused:
        pool.picture(make())
    assert word in str(refused.value.detail)


def test_each_reason_has_a_sentence_of_its_own():
    assert set(pool.REFUSALS) == set(Reason)
    assert len({str(text) for text, _ in pool.REFUSALS.values()}) == len(Reason)


@pytest.mark.parametrize("name", devices.SMALLEST)
def test_a_file_of_the_smallest_elements_costs_next_to_nothing(name):
    """In the web process, whose interpreter answers all others: 50 ms of 5 MB, and little in the decoding process."""
    data = devices.SMALLEST[name]()
    assert devices.LIMIT - 1_000 < len(data) <= devices.LIMIT
    with pytest.raises(ApiError):  # the process is at work by now
        pool.picture(b"\xff\xd8\xff")
    used, started = [], [spent(pid) for pid in pool.decoder_pids()]
    for _ in range(3):
        before = time.thread_time()
        try:
            pool.picture(data)
        except InvalidImage:
            assert "restarts in its scan" not in name
        used.append(time.thread_time() - before)
    assert min(used) < 0.05
    assert sum(spent(pid) for pid in pool.decoder_pids()) - sum(started) < 3 * 0.5


def spent(pid: int) -> float:
    """Processor seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# Each is tried after the start of the decoding process; what works is printed.
ATTEMPTS = """
import ctypes, os, socket, sys
sys.path.insert(0, sys.argv[1])
from core.images.confinement import confine

parent = os.getppid()
libc = ctypes.CDLL(None, use_errno=True)
is_filtered = confine()
print("filtered" if is_filtered else "not filtered", flush=True)

def fork():
    if os.fork() == 0:
        os._exit(0)

def freed_number():
    os.close(0)
    open(f"/proc/{parent}/environ").close()

def called(number, *arguments):
    if libc.syscall(number, *arguments) == -1:
        raise OSError(ctypes.get_errno(), "refused")

attempts = {
    "environ": lambda: open(f"/proc/{parent}/environ", "rb").read(),
    "environ by a freed number": freed_number,
    "own environ": lambda: open("/proc/self/environ", "rb").read(),
    "write a file": lambda: open("/tmp/from-the-decoder", "w"),
    "list": lambda: os.listdir("/"),
    "socket": lambda: socket.socket(),
    "fork": fork,
    "program": lambda: os.execv("/bin/true", ["true"]),
    "signal": lambda: os.kill(parent, 0),
    "privileges": lambda: called(157, 23, 0, 0, 0, 0),
    "memory of the parent": lambda: called(310, parent, 0, 0, 0, 0, 0),
    "trace": lambda: called(101, 16, parent, 0, 0),
    "limits of the parent": lambda: called(302, parent, 7, 0, 0),
}
for name, attempt in attempts.items():
    try:
        attempt()
        print("possible:", name, flush=True)
    except OSError:
        pass
"""


@pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine != "x86_64", reason="tries system calls by their numbers"
)
def test_the_decoding_process_can_reach_nothing():
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run([sys.executable, "-I", "-c", ATTEMPTS, root], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["filtered"]


def test_the_decoding_process_is_confined():
    """As /proc shows the process that decodes: no new privileges, a filter of system calls, no file to open."""
    if not Path("/proc/self/status").exists():
        pytest.skip("reads /proc")
    pool.picture(devices.photo())
    for pid in pool.decoder_pids():
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        assert status["NoNewPrivs"] == "1"
        assert status.get("Seccomp", "2") == "2"
        limits = Path(f"/proc/{pid}/limits").read_text()
        assert [line.split()[3] for line in limits.splitlines() if line.startswith("Max open files")] == ["3"]
