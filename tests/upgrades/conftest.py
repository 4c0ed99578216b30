import pytest

from tests.flows.conftest import mail_sink, server  # noqa: F401  (fixtures)
from tests.installation import Installation
from tests.upgrades.records import load


@pytest.fixture(scope="module")
def upgraded(request, tmp_path_factory):
    """An installation with the database of a release's record, migrated to today. The parameter is the version."""
    with Installation(tmp_path_factory.mktemp("upgraded"), empty=True) as installation:
        load(installation, request.param)
        migrated = installation.manage("migrate", "--verbosity", "0")
        assert migrated.returncode == 0, migrated.stderr
        yield installation


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    with Installation(tmp_path_factory.mktemp("fresh")) as installation:
        yield installation
