"""`migrate` beside people who write and read, killed in the middle of everything: no request fails, and nothing is lost.

A small size of `python -m tests.upgrades.traffic`.
"""

import pytest

from tests.server import ON_POSTGRES
from tests.upgrades.traffic import Upgrade

pytestmark = [
    pytest.mark.slow,
    pytest.mark.server,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer"),
]
MESSAGES = 5_000


@pytest.fixture(scope="module")
def upgrade(tmp_path_factory):
    with Upgrade(tmp_path_factory.mktemp("upgrade"), MESSAGES) as opened:
        yield opened


# The moment in the index comes once in a database.
@pytest.mark.parametrize("moments", [["lock", "index", "backfill"], ["session"]])
def test_no_request_fails_while_migrate_is_killed(upgrade, moments):
    result = upgrade.run(moments)
    assert result.failures == []
    assert len(result.outcomes) > 50
