"""A page of an origin that is not allowed: the SDK tells it why, and does not try again."""

import http.server
import threading
from functools import partial

import pytest

from tests.browser.chromium import needs_chromium
from tests.browser.client_pages import demo_people
from tests.server import ROOT, RunningServer

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(120)]

OPEN = """async ([baseUrl, session]) => {
  localStorage.setItem("parley.session", session);
  const { Parley } = await import("/static/sdk/parley.js");
  window.opened = 0;
  class Counted extends WebSocket {
    constructor(...address) {
      super(...address);
      window.opened += 1;
      this.addEventListener("close", ({ code, reason }) => (window.ending = [code, reason]));
    }
  }
  window.told = [];
  window.parley = new Parley({ baseUrl, WebSocket: Counted });
  parley.on("status", (data) => told.push(data));
  parley.connect();
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("foreign"), ALLOWED_HOSTS="127.0.0.1")
    running.start(demo=True)
    yield running
    running.kill()


@pytest.fixture
def elsewhere():
    """The address of a server of another origin that has a copy of the SDK."""
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(ROOT))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        yield f"http://elsewhere.localhost:{other.server_address[1]}"
        other.shutdown()


def test_it_hears_why_and_stops(chromium, server, elsewhere):
    own = chromium.new_context().new_page()
    own.goto(f"{server.base}/docs/")
    session = own.evaluate(
        """async (login) => {
          const { Parley } = await import("/static/sdk/parley.js");
          await new Parley().auth.login(login);
          return localStorage.getItem("parley.session");
        }""",
        demo_people(server)["Alice"],
    )
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{elsewhere}/static/sdk/parley.js")
    page.evaluate(OPEN, [server.base, session])
    page.wait_for_function("() => told.some(({ status }) => status === 'offline')")
    assert page.evaluate("() => ending") == [4403, "forbidden"]
    assert page.evaluate("() => told.at(-1)") == {"status": "offline", "reason": "forbidden"}
    page.wait_for_timeout(2500)  # the first repetitions would come within a second
    assert page.evaluate("() => [opened, parley.status, parley.session.isSignedIn]") == [1, "offline", True]
    # The app may try again by itself.
    page.evaluate("() => parley.connect()")
    page.wait_for_function("() => opened === 2")
    assert elsewhere in server.output()
    for each in (own.context, context):
        each.close()
