"""The SDK in several tabs of one browser: one sign-in, one renewal, one queue."""

import pytest

from tests.browser.chromium import browser, needs_chromium, watch
from tests.browser.client_pages import Api, demo_people

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]

OPEN = """async () => {
  const { Parley } = await import("/static/sdk/parley.js");
  window.told = [];
  window.parley = new Parley();
  parley.on("*", (name, data) => told.push([name, data]));
}"""
# What waits in the tab for the answer of `refresh`, until `release` is called.
SLOW = """async () => {
  const { Parley } = await import("/static/sdk/parley.js");
  const released = new Promise((resolve) => (window.release = resolve));
  const slow = async (url, options) => {
    const answer = await fetch(url, options);
    if (url.endsWith("/refresh")) await released;
    return answer;
  };
  window.parley = new Parley({ fetch: slow });
  window.renewal = parley.session.refresh().catch(() => {});
}"""

# A tab whose requests never arrive.
STUCK = """async () => {
  const { Parley } = await import("/static/sdk/parley.js");
  window.parley = new Parley({ fetch: () => new Promise(() => {}) });
}"""


@pytest.fixture
def tabs(server):
    """Three tabs of one browser, signed in as Alice by the first."""
    with browser() as chromium:
        context = chromium.new_context()
        pages, complaints = [], []
        for number in range(3):
            page = context.new_page()
            complaints.append(watch(page, server.base))
            page.goto(f"{server.base}/docs/")
            page.evaluate(OPEN)
            if number == 0:
                page.evaluate("login => parley.auth.login(login)", demo_people(server)["Alice"])
            pages.append(page)
        yield pages
    assert complaints == [[], [], []]


def test_signed_in_and_out_together(tabs):
    first, second, third = tabs
    assert [page.evaluate("() => parley.session.user.first_name") for page in tabs] == ["Alice"] * 3
    for page in tabs:
        page.evaluate("() => parley.connect()")
        page.wait_for_function("() => parley.status === 'online'")
    third.evaluate("() => parley.session.signOut()")
    for page in tabs:
        page.wait_for_function("() => told.some(([name]) => name === 'signedout')")
        reason = "() => told.filter(([name]) => name === 'signedout').map(([, data]) => data.reason)"
        assert page.evaluate(reason) == ["signed_out"]
        assert page.evaluate("() => [parley.session.isSignedIn, parley.status]") == [False, "offline"]


def test_one_of_them_renews_the_token(tabs):
    held = []
    tabs[0].context.route("**/api/v1/auth/refresh", lambda route: held.append(route))
    before = tabs[0].evaluate("() => parley.session.token")
    for page in tabs:
        page.evaluate("() => { window.renewal = parley.session.refresh(); }")
    # All three have asked by now; one request is on its way.
    tabs[0].wait_for_timeout(500)
    assert len(held) == 1
    held[0].continue_()
    for page in tabs:
        page.evaluate("() => renewal")
    after = {page.evaluate("() => parley.session.token") for page in tabs}
    assert len(after) == 1
    assert before not in after
    assert len(held) == 1
    for page in tabs:
        assert page.evaluate("async () => (await parley.profile.get()).profile.first_name") == "Alice"


def test_a_sign_out_wins_over_the_renewal_of_another_tab(tabs):
    first, second, _third = tabs
    first.evaluate(SLOW)
    second.wait_for_timeout(500)
    second.evaluate("() => parley.session.signOut()")
    first.evaluate("async () => { release(); await renewal; }")
    for page in tabs:
        page.wait_for_function("() => !parley.session.isSignedIn && localStorage.getItem('parley.session') === null")


def test_a_closed_tab_leaves_its_messages_to_the_others(tabs, server):
    logins = demo_people(server)
    chat = Api(server, logins["Alice"]).chat_with(Api(server, logins["Bob"]))
    first, second, _third = tabs
    # The first tab dies before anything leaves.
    first.route("**/messages/conversations/*/messages", lambda route: None)
    send = "chat => { for (const body of ['one', 'two']) parley.outbox.send({ conversation_id: chat, body }); }"
    first.evaluate(send, chat)
    second.wait_for_function("() => parley.outbox.items().length === 2")
    first.close()
    second.evaluate("() => parley.connect()")
    second.wait_for_function("() => parley.outbox.items().length === 0")
    list_of = "async chat => (await parley.messages.list({ conversation_id: chat, limit: 2 })).messages.map((row) => row.body)"
    assert second.evaluate(list_of, chat) == ["two", "one"]


def test_a_connected_tab_sends_what_one_that_closes_leaves_behind(tabs, server):
    logins = demo_people(server)
    chat = Api(server, logins["Alice"]).chat_with(Api(server, logins["Bob"]))
    first, second, _third = tabs
    second.evaluate("() => parley.connect()")
    second.wait_for_function("() => parley.status === 'online'")
    first.evaluate(STUCK)
    send = "([chat, body]) => parley.outbox.send({ conversation_id: chat, body }).client_id"
    taken_back = first.evaluate(send, [chat, "taken back"])
    first.evaluate(send, [chat, "left behind"])
    second.wait_for_function("() => parley.outbox.items().length === 2")
    # As long as it lives, its messages are its own.
    first.wait_for_timeout(1_000)
    first.evaluate("id => parley.outbox.remove(id)", taken_back)
    second.wait_for_function("() => parley.outbox.items().length === 1")
    first.close()
    second.wait_for_function("() => parley.outbox.items().length === 0", timeout=10_000)
    last = "async chat => (await parley.messages.list({ conversation_id: chat, limit: 1 })).messages[0].body"
    assert second.evaluate(last, chat) == "left behind"
