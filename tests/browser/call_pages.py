"""Page objects for calls: the ring, the window of a call, and what it shows at its end."""

import re

from playwright.sync_api import expect

from tests.browser.chromium import wait_until
from tests.browser.client_pages import Window

# Calls need two browsers, two cameras and the server at once: slow machines get time.
PATIENCE = 40_000
# Keeps the connections of a page within reach of the tests.
NOTE_PEERS = """
  window.peers = [];
  const Native = window.RTCPeerConnection;
  window.RTCPeerConnection = class extends Native {
    constructor(...values) {
      super(...values);
      window.peers.push(this);
    }
  };
"""
# While `window.deaf` is true, the page's sockets lose the signals of calls.
LOSE_SIGNALS = """
  const Plain = window.WebSocket;
  window.WebSocket = class extends Plain {
    constructor(...values) {
      super(...values);
      this.addEventListener("message", (event) => {
        if (window.deaf && JSON.parse(event.data).type === "call.signal") event.stopImmediatePropagation();
      });
    }
  };
"""
# What the present connection has decoded so far.
FLOW = """async () => {
  const flow = { frames: 0, energy: 0, types: null };
  const peer = window.peers.at(-1);
  if (!peer || peer.connectionState !== "connected") return flow;
  const stats = await peer.getStats();
  for (const row of stats.values()) {
    if (row.type === "inbound-rtp" && row.kind === "video") flow.frames = row.framesDecoded;
    if (row.type === "inbound-rtp" && row.kind === "audio") flow.energy = row.totalAudioEnergy;
    if (row.type === "transport" && row.selectedCandidatePairId) {
      const pair = stats.get(row.selectedCandidatePairId);
      flow.types = [stats.get(pair.localCandidateId).candidateType, stats.get(pair.remoteCandidateId).candidateType];
    }
  }
  return flow;
}"""


# Whether more has been decoded than when this was last asked; a connection that is new since then counts anew.
GROWS = f"""async (measure) => {{
  const [before, peer, value] = [window.seen, window.peers.length, (await ({FLOW})())[measure]];
  window.seen = {{ measure, peer, value }};
  return before?.measure === measure && before.peer === peer && value > before.value;
}}"""


class CallWindow(Window):
    """A person's browser, with the words of calls."""

    def __init__(self, browser, server, login, *, allowed=(), **options):
        super().__init__(browser, server, login, **options)
        self.context.grant_permissions(list(allowed), origin=server.base)
        self.context.add_init_script(NOTE_PEERS)
        self.context.add_init_script(LOSE_SIGNALS)

    def call(self, kind):
        self.page.get_by_role("button", name=f"{kind} call", exact=True).click()

    @property
    def ring(self):
        return self.page.get_by_role("alertdialog")

    @property
    def dialog(self):
        return self.page.get_by_role("dialog", name=re.compile("^Call with "))

    def rings(self, name):
        expect(self.ring).to_be_visible(timeout=PATIENCE)
        expect(self.page.get_by_role("alertdialog", name=re.compile(name))).to_be_visible()
        return self

    def answer(self):
        self.press("Accept")

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True)

    def expect_active(self):
        """Media has arrived and the time of the call runs."""
        expect(self.page.get_by_role("timer")).to_be_visible(timeout=PATIENCE)
        return self

    def video(self, which):
        return self.page.locator(f'video[aria-label="{which} video"]')

    def flow(self):
        return self.page.evaluate(FLOW)

    def receives(self, measure="frames"):
        """What has been decoded grows, twice from now on."""
        self.page.evaluate("() => { window.seen = null; }")
        for _ in range(2):
            wait_until(self.page, GROWS, measure, timeout=PATIENCE)

    def ended(self, reason):
        status = self.page.locator(".call-end").get_by_role("status")
        expect(status).to_have_text(re.compile(reason), timeout=PATIENCE)
        expect(self.dialog).to_have_count(0)
        expect(self.ring).to_have_count(0)
