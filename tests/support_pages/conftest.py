"""What all tests of the support pages need."""

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def no_counted_charts():
    """The overview keeps what it has counted: the rows of the test before."""
    cache.clear()
