"""Debian's Firefox, driven over WebDriver BiDi, which it speaks by itself; Playwright drives only a Firefox of its own."""

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

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
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004"}
LIVE_EVENTS = ["log.entryAdded", "network.responseCompleted", "browsingContext.userPromptOpened"]


class Firefox:
    """One process. `complaints` are the errors and warnings of all its pages, and the requests that were refused."""

    def __init__(self, socket):
        self.socket = socket
        self.number = 0
        self.complaints: list[str] = []
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
        elif method == "network.responseCompleted" and params["response"]["status"] >= 400:
            self.complaints.append(f"{params['response']['status']} {params['request']['url']}")

    def person(self, **size):
        """A window with cookies and storage of its own."""
        user = self.order("browser.createUserContext")["userContext"]
        return Window(self, self.order("browsingContext.create", type="window", userContext=user)["context"], **size)

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
        connect(address, max_size=None, open_timeout=START_SECONDS) as socket,
    ):
        yield Firefox(socket)


class Window:
    def __init__(self, browser, context, *, width=None, height=None):
        self.browser, self.context = browser, context
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

    def click(self, element):
        # Firefox hands out a camera only to the window in front.
        self.order("browsingContext.activate")
        self.run("(element) => element.scrollIntoView({ block: 'nearest' })", element=element)
        origin = {"type": "element", "element": element}
        actions = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self.order("input.performActions", actions=[{"type": "pointer", "id": "mouse", "actions": actions}])

    def press(self, role, name):
        self.click(self.find(role, name))

    def type(self, text):
        """Into what has the focus. Names of keys are those of KEYS."""
        keys = [KEYS[text]] if text in KEYS else list(text)
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
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


def local(value):
    kinds = {str: "string", bool: "boolean", int: "number", float: "number"}
    if value is None:
        return {"type": "null"}
    return {"type": kinds[type(value)], "value": value}


def remote(value):
    kind = value["type"]
    if kind == "array":
        return [remote(one) for one in value.get("value", [])]
    if kind == "object":
        return {key: remote(one) for key, one in value.get("value", [])}
    return value.get("value")
