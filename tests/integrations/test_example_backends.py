"""The backends of docs/examples against the real server, with the published library of Standard Webhooks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.integrations.receiving import SECRET
from tests.server import RunningServer, free_port
from tests.waiting import wait_for

pytestmark = [pytest.mark.once, pytest.mark.timeout(180)]

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
CUSTOMER = {"email": "py@example.com", "first_name": "Pia", "last_name": "Young", "external_id": "py-1"}
USE = """
import backend, json, sys
token = backend.token_for(json.loads(sys.argv[1]))
assert backend.token_for(json.loads(sys.argv[1])) != token
print(json.dumps({"token": token, "missed": [event["type"] for event in backend.catch_up()], "again": backend.catch_up()}))
"""
IDENTIFY = "import backend, sys; print(backend.customer_of(sys.argv[1]))"


@pytest.mark.slow
def test_both_backends_bring_users_and_get_events(tmp_path):
    python_port, node_port = free_port(), free_port()
    targets = f"py|http://127.0.0.1:{python_port}/|{SECRET}|* js|http://127.0.0.1:{node_port}/|{SECRET}|*"
    server = RunningServer(tmp_path, WEBHOOKS=targets, IDENTITY_AUDIENCES="shop")
    server.start()
    try:
        made = subprocess.run(
            [sys.executable, "manage.py", "create_server_key", "shop", "--json", "--scopes",
             "users:read,users:write,sessions:create,messages:write,events:read"],
            env=server.environment, capture_output=True, text=True, check=True, cwd=EXAMPLES.parents[1],
        )  # fmt: skip
        environment = os.environ | {
            "CHAT_URL": server.base,
            "CHAT_KEY": json.loads(made.stdout)["key"],
            "CHAT_WEBHOOK_KEY": SECRET,
            "STATE_FILE": str(tmp_path / "state.json"),
            "PYTHONPATH": str(EXAMPLES),
        }
        used = subprocess.run(
            [sys.executable, "-c", USE, json.dumps(CUSTOMER)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        result = json.loads(used.stdout)
        assert result["missed"][:2] == ["account.created", "account.verified"]
        assert result["again"] == []
        client = httpx.Client(base_url=f"{server.base}/api/v1", headers={"Authorization": f"Bearer {result['token']}"})
        identity = client.post("/auth/identity-token", json={"audience": "shop"}).json()["token"]
        named = subprocess.run(
            [sys.executable, "-c", IDENTIFY, identity], env=environment, capture_output=True, text=True, check=True
        )
        assert named.stdout.strip() == "py-1"

        logs = {name: tmp_path / f"{name}.log" for name in ("python", "node")}
        running = []
        for name, command in (
            ("python", [sys.executable, str(EXAMPLES / "backend.py"), str(python_port)]),
            ("node", ["node", str(EXAMPLES / "backend.mjs"), str(node_port)]),
        ):
            with logs[name].open("w") as log:
                running.append(subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT))
        try:
            wait_for(lambda: "token_length" in logs["node"].read_text(), 30)
            client.patch("/profile", json={"bio": "Gardener"})
            for log in logs.values():
                wait_for(lambda log=log: "account.updated" in log.read_text(), 60)
                assert "py-1" in log.read_text()
        finally:
            for process in running:
                process.terminate()
                process.wait(10)
    finally:
        server.stop()
