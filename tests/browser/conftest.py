"""One server for all tests of the support pages; each changes rows of its own."""

import pytest

from tests.browser.chromium import browser
from tests.browser.staff import House, open_page


@pytest.fixture(scope="session")
def house(tmp_path_factory):
    running = House(tmp_path_factory.mktemp("house"))
    running.start()
    running.fill()
    yield running
    running.kill()


@pytest.fixture(scope="module")
def page_of(house):
    """The page of a staff member who has signed in, and what it complains about from now on."""
    with browser() as chromium:
        opened = {}

        def of(name):
            if name not in opened:
                opened[name] = open_page(chromium, house, name)
            page, complaints = opened[name]
            complaints.clear()
            return page, complaints

        yield of
