"""`manage.py fake_fcm` as a process of its own, and the way to script and question it."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class FakeFcm:
    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "manage.py", "fake_fcm", "--json", "--credentials", str(folder / "account.json")]
        self._process = subprocess.Popen(
            [*command, *arguments],
            cwd=ROOT,
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "VAR_DIR": str(folder)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        settings = json.loads(self._process.stdout.readline())
        self.environment: dict[str, str] = settings
        self.endpoint: str = settings["PUSH_FCM_ENDPOINT"]
        self.credentials: str = settings["PUSH_FCM_CREDENTIALS"]

    def stop(self) -> None:
        self._process.terminate()
        assert self._process.wait(10) == 0
        assert self._process.stdout is not None
        self._process.stdout.close()

    def script(self, token: str, *answers: dict[str, Any] | str) -> None:
        """Answers for a token ("*" for all): names, or objects with `kind` and its particulars."""
        listed = [{"kind": one} if isinstance(one, str) else one for one in answers]
        self._call("POST", "/_fake/script", {"token": token, "answers": listed})

    def sign_in(self, *, works: bool) -> None:
        self._call("POST", "/_fake/sign_in", {"works": works})

    def requests(self, token: str | None = None) -> list[dict[str, Any]]:
        query = f"?token={token}" if token else ""
        return self._call("GET", f"/_fake/requests{query}")["requests"]

    def messages(self, token: str | None = None) -> list[dict[str, Any]]:
        """What was taken."""
        return [one["message"] for one in self.requests(token) if one["status"] == 200]

    def reset(self) -> None:
        self._call("DELETE", "/_fake")

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.endpoint + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)
