"""Requests made up from the OpenAPI document, right ones and wrong ones, against the real server.

Every answer is one that the document promises. `FUZZ=10000` asks for thousands of examples per run.
"""

import json
import os

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from tests.server import ROOT, RunningServer

pytestmark = pytest.mark.once

EXAMPLES = max(8, int(os.environ.get("FUZZ", "0")) // 70)
# These end the session that everything else needs.
ENDS_THE_SESSION = ["auth_logout", "auth_delete_account", "auth_sessions_end", "auth_sessions_end_others"]

schema = schemathesis.openapi.from_path(str(ROOT / "docs" / "openapi.json")).exclude(operation_id=ENDS_THE_SESSION)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("schemathesis"), RATELIMIT_ENABLE="0", LOG_LEVEL="WARNING")
    running.start(demo=True)
    yield running
    running.kill()


@pytest.fixture(scope="module")
def token(server):
    alice = json.loads((server.log.parent / "var" / "demo.json").read_text())[0]
    login = {name: alice[name] for name in ("email", "password")}
    return httpx.post(f"{server.base}/api/v1/auth/login", json=login, timeout=20).json()["token"]


@pytest.mark.timeout(1800)
@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_answers_are_those_of_the_document(case, server, token):
    case.call_and_validate(
        base_url=server.base,
        headers={"Authorization": f"Bearer {token}"},
        checks=[not_a_server_error, content_type_conformance, response_schema_conformance],
    )
