"""A process that is started, asked to stop, killed and started again, as a supervisor does it."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

START_SECONDS = 60
STOP_SECONDS = 40


def wait_until(true: Callable[[], object], *, what: str, seconds: float = START_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain for {what}"
        time.sleep(0.05)


class Process:
    """A command in a group of its own: what it leaves behind ends with it, as under systemd."""

    def __init__(
        self,
        name: str,
        command: list[str],
        *,
        folder: Path,
        environment: dict[str, str],
        cwd: Path,
        is_up: Callable[[], bool] | None = None,
    ) -> None:
        self.name = name
        self.command = command
        self.environment = environment
        self.cwd = cwd
        self.is_up = is_up
        self.log = folder / f"{name}.log"
        self._popen: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._popen is not None
        return self._popen.pid

    def children(self) -> list[int]:
        """The ids of its own processes, oldest first (proc(5))."""
        listed = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return sorted(int(number) for number in listed.split())

    def start(self, *, wait: bool = True) -> None:
        with self.log.open("ab") as log:
            self._popen = subprocess.Popen(
                self.command,
                cwd=self.cwd,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        if wait:
            self.wait_until_up()

    def wait_until_up(self) -> None:
        assert self._popen is not None
        deadline = time.monotonic() + START_SECONDS
        while not (self.is_up is None or self.is_up()):
            assert self._popen.poll() is None, f"{self.name} ended\n{self.output()}"
            assert time.monotonic() < deadline, f"{self.name} is not up\n{self.output()}"
            time.sleep(0.05)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop; returns its exit code."""
        assert self._popen is not None
        self._popen.send_signal(number)
        code = self._popen.wait(timeout=STOP_SECONDS)
        self._popen = None
        return code

    def reload(self, *said: str) -> None:
        """SIGHUP, as `systemctl reload` sends it; waits until the process says each of these once more."""
        assert self._popen is not None
        before = {words: self._times(words) for words in said}
        self._popen.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + START_SECONDS
        while any(self._times(words) == times for words, times in before.items()):
            assert self._popen.poll() is None, self.output()
            assert time.monotonic() < deadline, f"{self.name} did not reload\n{self.output()}"
            time.sleep(0.1)

    def _times(self, words: str) -> int:
        return self.log.read_text(errors="replace").count(words)

    def kill(self) -> None:
        """kill -9 to all of it: nothing is finished, nothing is flushed."""
        if self._popen is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._popen.pid, signal.SIGKILL)
            self._popen.wait(timeout=STOP_SECONDS)
            self._popen = None

    def output(self) -> str:
        return self.log.read_text(errors="replace")[-6000:] if self.log.exists() else ""
