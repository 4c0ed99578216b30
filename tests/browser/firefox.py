"""Debian's Firefox, driven over WebDriver BiDi, which it speaks by itself; Playwright drives only a Firefox of its own."""

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import axe_playwright_python
import pytest
from websockets.sync.client import connect

from tests.waiting import wait_for

EXECUTABLE = shutil.which("firefox-esr") or shutil.which("firefox")
needs_firefox = pytest.mark.skipif(not EXECUTABLE, reason="no Firefox (apt-get install firefox-esr)")
START_SECONDS = 120
PATIENCE = 30
# Devices that need no hardware and no question, and nothing that Firefox fetches for itself.
PREFERENCES = {
    "media.navigator.streams.fake": True,
    "media.navigator.permission.disabled": True,
    "media.peerconnection.ice.loopback": True,
    "media.peerconnection.ice.obfuscate_host_addresses": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.disable_open_during_load": False,
}
KEYS = {
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Tab": "\ue004",
    "Shift": "\ue008",
    "Control": "\ue009",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "PageUp": "\ue00e",
    "End": "\ue010",
    "Home": "\ue011",
    "Backspace": "\ue003",
}
LIVE_EVENTS = [
    "log.entryAdded",
    "network.beforeRequestSent",
    "network.responseCompleted",
    "network.fetchError",
    "browsingContext.userPromptOpened",
]
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
# After every change of colours has ended.
BARRIERS = """async (options) => {
  const isEnding = ({ effect }) => effect.getComputedTiming().endTime < 2000;
  await Promise.allSettled(document.getAnimations().filter(isEnding).map(({ finished }) => finished));
  const found = await axe.run(document, { resultTypes: ["violations"], ...JSON.parse(options) });
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" ")}`);
}"""
SET_PREFERENCE = """(name, value) => {
  const kinds = { boolean: "Bool", number: "Int", string: "String" };
  if (value === null) Services.prefs.clearUserPref(name);
  else Services.prefs[`set${kinds[typeof value]}Pref`](name, value);
}"""


class Firefox:
    """One process. `complaints` are the errors and warnings of all its pages, and the requests that were refused."""

    def __init__(self, socket):
        self.socket = socket
        self.number = 0
        self.complaints: list[str] = []
        # The addresses that were wanted, and those of them that could not be loaded.
        self.asked: list[str] = []
        self.lost: list[str] = []
        # Patterns of complaints that belong to the test.
        self.expected: list[str] = []
        self.own = None
        self.order("session.new", capabilities={})
        self.order("session.subscribe", events=LIVE_EVENTS)

    def order(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        deadline = time.monotonic() + START_SECONDS
        while True:
            message = json.loads(self.socket.recv(timeout=max(0.1, deadline - time.monotonic())))
            if message["type"] == "event":
                self.hear(message["method"], message["params"])
            elif message["id"] == self.number:
                assert message["type"] == "success", f"{method}: {message}"
                return message["result"]

    def hear(self, method, params):
        if method == "log.entryAdded" and params["level"] in {"error", "warn"}:
            self.complaints.append(f"{params['text']} {params.get('stackTrace') or ''}")
        elif method == "network.beforeRequestSent":
            self.asked.append(params["request"]["url"])
        elif method == "network.responseCompleted" and params["response"]["status"] >= 400:
            self.complaints.append(f"{params['response']['status']} {params['request']['url']}")
        elif method == "network.fetchError":
            self.lost.append(params["request"]["url"])

    def has_lost(self, part):
        """Whether an address with this part could not be loaded."""
        # What has happened by now arrives before the reply.
        self.order("session.status")
        return any(part in address for address in self.lost)

    def unexpected(self):
        return [text for text in self.complaints if not any(re.search(pattern, text) for pattern in self.expected)]

    def person(self, **size):
        """A window with cookies and storage of its own."""
        user = self.order("browser.createUserContext")["userContext"]
        return self.window(user, **size)

    def window(self, user="default", *, kind="window", **size):
        return Window(self, self.order("browsingContext.create", type=kind, userContext=user)["context"], user, **size)

    def itself(self, function, *arguments):
        """What a function returns that runs in the browser's own window, around the pages."""
        if self.own is None:
            tree = self.order("browsingContext.getTree", **{"moz:scope": "chrome"})["contexts"]
            self.own = Window(self, tree[0]["context"])
        return self.own.run(function, *arguments)

    @contextlib.contextmanager
    def preferences(self, values):
        """Set for the pages that are opened inside the block, as in about:config."""
        for name, value in values.items():
            self.itself(SET_PREFERENCE, name, value)
        try:
            yield
        finally:
            for name in values:
                self.itself(SET_PREFERENCE, name, PREFERENCES.get(name))

    def windows(self):
        return [Window(self, entry["context"]) for entry in self.order("browsingContext.getTree")["contexts"]]


@contextlib.contextmanager
def process(folder: Path):
    """Starts Firefox with an empty profile; the address that it listens on."""
    profile = folder / "firefox"
    profile.mkdir()
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
    (profile / "user.js").write_text("\n".join(lines))
    command = [EXECUTABLE, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    # For what no page may do, such as changing preferences.
    command.append("--remote-allow-system-access")
    with (folder / "firefox.log").open("wb") as log:
        started = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            # Written as soon as it listens.
            address = profile / "WebDriverBiDiServer.json"
            wait_for(lambda: address.exists() and address.stat().st_size, START_SECONDS, what="Firefox")
            place = json.loads(address.read_text())
            yield f"ws://{place['ws_host']}:{place['ws_port']}/session"
        finally:
            # With the processes of its pages.
            os.killpg(started.pid, signal.SIGTERM)
            try:
                started.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(started.pid, signal.SIGKILL)
                started.wait()


@contextlib.contextmanager
def firefox():
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        process(Path(folder)) as address,
        # Without pings: their answers wait behind events that no test has read yet.
        connect(address, max_size=None, open_timeout=START_SECONDS, ping_interval=None) as socket,
    ):
        yield Firefox(socket)


class Window:
    def __init__(self, browser, context, user="default", *, width=None, height=None):
        self.browser, self.context, self.user = browser, context, user
        if width:
            self.order("browsingContext.setViewport", viewport={"width": width, "height": height})

    def order(self, method, **params):
        return self.browser.order(method, context=self.context, **params)

    def open(self, url):
        self.order("browsingContext.navigate", url=url, wait="complete")
        return self

    def reload(self):
        self.order("browsingContext.reload", wait="complete")

    def picture(self, path):
        Path(path).write_bytes(base64.b64decode(self.order("browsingContext.captureScreenshot")["data"]))

    def close(self):
        self.order("browsingContext.close")

    def run(self, function, *arguments, element=None):
        """What an arrow function of the page returns; `element` is its first argument."""
        given = [element] if element else []
        given += [local(value) for value in arguments]
        answer = self.browser.order(
            "script.callFunction",
            functionDeclaration=function,
            awaitPromise=True,
            target={"context": self.context},
            arguments=given,
            resultOwnership="none",
        )
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return remote(answer["result"])

    def until(self, function, *arguments, element=None):
        return wait_for(
            lambda: self.run(function, *arguments, element=element), what=f"{function} {arguments}", seconds=PATIENCE
        )

    def all(self, role, name=None):
        value = {"role": role} | ({"name": name} if name else {})
        locator = {"type": "accessibility", "value": value}
        return [
            {"sharedId": node["sharedId"]}
            for node in self.order("browsingContext.locateNodes", locator=locator)["nodes"]
        ]

    def find(self, role, name=None):
        """The first element that a screen reader calls so, once it is there."""
        return wait_for(lambda: self.all(role, name), PATIENCE, what=f"{role} {name}")[0]

    def lacks(self, role, name=None):
        wait_for(lambda: not self.all(role, name), PATIENCE, what=f"the end of {role} {name}")

    def css(self, selector):
        locator = {"type": "css", "value": selector}
        nodes = wait_for(
            lambda: self.order("browsingContext.locateNodes", locator=locator)["nodes"], PATIENCE, what=selector
        )
        return {"sharedId": nodes[0]["sharedId"]}

    def show(self):
        """In front: Firefox hands out a camera only there."""
        self.order("browsingContext.activate")
        return self

    def click(self, element):
        self.show()
        self.run("(element) => element.scrollIntoView({ block: 'nearest' })", element=element)
        origin = {"type": "element", "element": element}
        actions = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self.order("input.performActions", actions=[{"type": "pointer", "id": "mouse", "actions": actions}])

    def wheel(self, element, down):
        origin = {"type": "element", "element": element}
        actions = [{"type": "scroll", "x": 0, "y": 0, "deltaX": 0, "deltaY": down, "origin": origin}]
        self.order("input.performActions", actions=[{"type": "wheel", "id": "wheel", "actions": actions}])

    def press(self, role, name):
        self.click(self.find(role, name))

    def type(self, text):
        """Into what has the focus. Names of keys are those of KEYS; "Control+z" is both at once."""
        held, _, last = text.rpartition("+") if text.split("+")[0] in KEYS else ("", "", text)
        keys = [KEYS[last]] if last in KEYS else list(last)
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        if held:
            actions = [{"type": "keyDown", "value": KEYS[held]}, *actions, {"type": "keyUp", "value": KEYS[held]}]
        self.order("input.performActions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def fill(self, role, name, text):
        self.press(role, name)
        self.type(text)

    def choose_file(self, selector, *paths):
        self.order("input.setFiles", element=self.css(selector), files=[str(path) for path in paths])

    def sees(self, text, selector="body"):
        self.until(
            "(text, selector) => [...document.querySelectorAll(selector)].some((one) => one.textContent.includes(text))",
            text,
            selector,
        )

    def barriers(self, **options):
        """What axe finds: see `barriers` in tests/browser/chromium.py."""
        self.run(f"() => {{ if (!window.axe) {{ {AXE} }} }}")
        return self.run(BARRIERS, json.dumps(options))


def local(value):
    kinds = {str: "string", bool: "boolean", int: "number", float: "number"}
    if isinstance(value, list):
        return {"type": "array", "value": [local(one) for one in value]}
    if value is None:
        return {"type": "null"}
    return {"type": kinds[type(value)], "value": value}


def remote(value):
    kind = value["type"]
    if kind == "node":
        return {"sharedId": value["sharedId"]}
    if kind == "array":
        return [remote(one) for one in value.get("value", [])]
    if kind == "object":
        return {key: remote(one) for key, one in value.get("value", [])}
    return value.get("value")
