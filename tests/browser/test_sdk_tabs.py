"""The SDK in several tabs of one browser: one sign-in, one renewal, one queue."""

import pytest

from tests.browser.chromium import needs_chromium, watch
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


complaints_of = {}


@pytest.fixture
def tabs(server, empty_chromium):
    """Three tabs of one browser, signed in as Alice by the first."""
    context = empty_chromium.new_context()
    pages, complaints = [], []
    for number in range(3):
        page = context.new_page()
        complaints.append(watch(page, server.base))
        page.goto(f"{server.base}/docs/")
        page.evaluate(OPEN)
        if number == 0:
            page.evaluate("login => parley.auth.login(login)", demo_people(server)["Alice"])
        pages.append(page)
    # A test that provokes a refusal clears its complaints.
    complaints_of.update(zip(pages, complaints, strict=True))
    yield pages
    complaints_of.clear()
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


# Another tab took the lock and was then stopped by the system: it never gives it back.
HOLD = "name => { navigator.locks.request(name, () => new Promise(() => {})); }"
TIMEOUT_MS = 3_000
# What a call in another tab comes to, and after how long.
CALLS = {
    "a renewal": "() => parley.session.refresh().then(() => 'done')",
    "a request": "() => parley.auth.me().then(() => 'done')",
    "a change of password": """() => parley.auth.changePassword({ current_password: "a", new_password: "b", action_token: "c" })
      .catch(({ code }) => code)""",
    "an ended session": """async () => {
      const [key, kept] = ["parley.session", localStorage.getItem("parley.session")];
      await new parley.constructor({ name: "other", storage: localStorage }).rest.call("auth_logout", {}, { token: parley.session.token });
      return parley.auth.me().then(() => "done", ({ code }) => code);
    }""",
}


@pytest.mark.parametrize("name", CALLS)
def test_a_stopped_tab_that_holds_the_lock_of_the_refresh_stops_no_other(tabs, name):
    first, second, _third = tabs
    first.evaluate(HOLD, "parley.refresh")
    second.evaluate("(timeout) => { parley.timeout = timeout; }", TIMEOUT_MS)
    found = second.evaluate(
        f"async () => {{ const from = Date.now(); const end = await ({CALLS[name]})(); return [end, Date.now() - from]; }}"
    )
    assert (
        found[0]
        in {
            "a renewal": ["done"],
            "a request": ["done"],
            "a change of password": ["validation_error", "action_token_invalid"],
            "an ended session": ["token_revoked"],
        }[name]
    )
    assert found[1] < TIMEOUT_MS
    second.evaluate("() => parley.close()")
    complaints_of[second].clear()


def test_a_stopped_tab_that_sends_holds_back_no_message_for_ever(tabs):
    first, second, _third = tabs
    second.evaluate("""async () => {
      const { Tabs } = await import("/static/sdk/parley/environment.js");
      window.tabsOfTest = new Tabs("parley", localStorage);
    }""")
    first.evaluate(HOLD, "parley.outbox.1")
    begun = second.evaluate("""async () => {
      const from = Date.now();
      const work = await tabsOfTest.lock("outbox.1", async () => "begun", 500);
      const fails = await tabsOfTest.lock("outbox.1", async () => { throw new Error("its own"); }, 100).catch(({ message }) => message);
      return [work, fails, Date.now() - from];
    }""")
    assert begun[:2] == ["begun", "its own"]
    assert 600 <= begun[2] < 5_000
