"""A disk with an end that a test can reach. Root alone may mount one."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def mounted(folder: Path, *, kilobytes: int) -> Iterator[Path]:
    """A disk of this size in a folder; without the right to mount one the test is skipped."""
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("only root may mount a disk of its own")
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
