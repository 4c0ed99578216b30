"""What the browser tests share: a browser, a server with demo users, and a server with a row of everything for staff."""

from functools import partial

import pytest

from tests.browser import firefox, firefox_pages
from tests.browser.chromium import FLAGS, WHOLE, browser, closed_at_the_end
from tests.browser.client_pages import END_CALL, Api, Window, demo_people, opened_windows
from tests.browser.staff import StaffServer, open_page
from tests.server import RunningServer


@pytest.fixture(scope="package")
def program():
    """Started once. What is opened in it has cookies, storage and permissions of its own."""
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def chromium(program):
    with closed_at_the_end(program):
        yield program


@pytest.fixture(scope="module")
def whole_chromium(program):
    """With the windows around a page: for the calls of two browsers as users have them."""
    opened = program.browser_type.launch(executable_path=WHOLE, args=FLAGS)
    yield opened
    opened.close()


@pytest.fixture
def empty_chromium(chromium):
    """For tests that leave closing what they open to others."""
    with closed_at_the_end(chromium):
        yield chromium


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """With demo users and without rates; a module that needs other settings has a `server` of its own."""
    running = RunningServer(tmp_path_factory.mktemp("browser"), RATELIMIT_ENABLE="0")
    running.start(demo=True)
    yield running
    running.kill()


@pytest.fixture(scope="module")
def people(server):
    """Alice and Bob over REST."""
    logins = demo_people(server)
    return {name: Api(server, logins[name]) for name in ("Alice", "Bob")}


@pytest.fixture(scope="module")
def chat(people):
    """The id of the conversation of Alice and Bob."""
    return people["Alice"].chat_with(people["Bob"])


@pytest.fixture
def windows(chromium, server):
    """`windows("Alice")` opens a browser of Alice."""
    with opened_windows(partial(Window, chromium, server), server) as window:
        yield window


@pytest.fixture(scope="session")
def staff_server(tmp_path_factory):
    running = StaffServer(tmp_path_factory.mktemp("staff"))
    running.start()
    running.fill()
    yield running
    running.kill()


@pytest.fixture(scope="module")
def page_of(staff_server, chromium):
    """The page of a staff member who has signed in, and what it complains about from now on."""
    opened = {}

    def of(name):
        if name not in opened:
            opened[name] = open_page(chromium, staff_server, name)
        page, complaints = opened[name]
        complaints.clear()
        return page, complaints

    return of


@pytest.fixture(scope="package")
def fox_server(tmp_path_factory):
    """One for all tests in Firefox. None of them stops it: they stop a proxy in front of it."""
    running = RunningServer(tmp_path_factory.mktemp("firefox"), RATELIMIT_ENABLE="0")
    running.start(demo=True)
    yield running
    running.kill()


@pytest.fixture(scope="module")
def fox_people(fox_server):
    """Alice and Bob over REST."""
    logins = demo_people(fox_server)
    return {name: Api(fox_server, logins[name]) for name in ("Alice", "Bob")}


@pytest.fixture(scope="module")
def fox_chat(fox_people):
    """The id of the conversation of Alice and Bob."""
    return fox_people["Alice"].chat_with(fox_people["Bob"])


@pytest.fixture(scope="module")
def fox_program():
    with firefox.firefox() as opened:
        yield opened


@pytest.fixture
def fox(fox_program):
    """No page may complain, unless the test has said what about. What a test opens is closed after it."""
    before = {window.context for window in fox_program.windows()}
    for notes in (fox_program.complaints, fox_program.expected, fox_program.asked, fox_program.lost):
        notes.clear()
    yield fox_program
    complaints = fox_program.unexpected()
    for window in fox_program.windows():
        if window.context not in before:
            window.close()
    assert complaints == []


@pytest.fixture(scope="module")
def fox_windows(fox_program, fox_server):
    """Of Alice and Bob, for all tests of a module."""
    windows = [fox_program.person(width=1280, height=800) for _ in range(2)]
    for window, name in zip(windows, ("Alice", "Bob"), strict=True):
        firefox_pages.sign_in(window, fox_server, name)
    return windows


@pytest.fixture
def pair(fox_windows, fox, fox_server, fox_chat):
    """Alice and Bob in their conversation, each with a browser of their own, and without a call."""
    for window in fox_windows:
        firefox_pages.visit(window, f"{fox_server.base}/app/chats/{fox_chat}").find("log", "Messages")
    yield fox_windows
    for window in fox_windows:
        window.run(END_CALL)
