"""Node with the SDK loaded: what a test sends is run there."""

import itertools
import json
import queue
import subprocess
import threading
from pathlib import Path

from tests.node import NODE

DRIVER = Path(__file__).with_name("driver.mjs")
PATIENCE_SECONDS = 60


class ScriptError(Exception):
    def __init__(self, error):
        super().__init__(error.get("text"))
        self.code = error.get("code")
        self.error = error


def socket_flag():
    """Node 20 has the WebSocket of browsers behind a flag, later versions always."""
    result = subprocess.run([NODE, "-p", "typeof WebSocket"], capture_output=True, text=True, check=True)
    return [] if result.stdout.strip() == "function" else ["--experimental-websocket"]


class Node:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [NODE, "--no-warnings", *socket_flag(), *arguments, str(DRIVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ids = itertools.count(1)
        self.answers = {}
        self.news = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.news.put(json.loads(line))
        self.news.put(None)

    def start(self, code):
        """Sends a script; its number, for `result`."""
        number = next(self.ids)
        self.process.stdin.write(json.dumps({"id": number, "code": code}) + "\n")
        self.process.stdin.flush()
        return number

    def result(self, number, seconds=PATIENCE_SECONDS):
        while number not in self.answers:
            answer = self.news.get(timeout=seconds)
            assert answer is not None, "Node has ended"
            self.answers[answer["id"]] = answer
        answer = self.answers.pop(number)
        if "error" in answer:
            raise ScriptError(answer["error"])
        return answer["value"]

    def run(self, code, seconds=PATIENCE_SECONDS):
        return self.result(self.start(code), seconds)

    def close(self):
        self.process.kill()
        self.process.wait(timeout=10)
        self.process.stdin.close()
        self.process.stdout.close()
