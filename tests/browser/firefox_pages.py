"""What a person does with the client in Firefox."""

import io
import secrets

from PIL import Image

from tests.browser.client_pages import demo_people

SIGN_IN = """async (email, password) => {
  const { Parley } = await import("/static/sdk/parley.js");
  await new Parley().auth.login({ email, password });
}"""
STATUS = "async () => (await import('/static/app/client.js')).parley.status"
ONLINE = f"async () => (await ({STATUS})()) === 'online'"
# What the Tab key has reached, unless that says what it is: Firefox stops at each box that scrolls.
NAMELESS = """() => {
  const stop = document.activeElement;
  const isNamed = stop.getAttribute("role") && (stop.getAttribute("aria-label") || stop.getAttribute("aria-labelledby"));
  return isNamed || stop.matches("body, article[aria-label], a, button, input, textarea, select, summary") ? "" : stop.outerHTML.slice(0, 100);
}"""
SIDEWAYS = "() => document.documentElement.scrollWidth - innerWidth"
# The picture of the other one moves.
MOVING = """async () => {
  const video = document.querySelector("video.remote");
  const before = video?.currentTime ?? 0;
  await new Promise((resolve) => setTimeout(resolve, 300));
  return before > 0 && video.currentTime > before && video.videoWidth > 0;
}"""
AT_END = """() => {
  const log = document.querySelector("[role=log]");
  return log.scrollHeight - log.scrollTop - log.clientHeight < 4;
}"""


def sign_in(window, server, name, base=None):
    """Without the form. `base` is the address of a proxy in front of the server."""
    login = demo_people(server)[name]
    window.open(f"{base or server.base}/docs/")
    window.run(SIGN_IN, login["email"], login["password"])
    return window


def enter(fox, server, name, path, base=None, **size):
    """A window of this person at a page of the client, and online."""
    window = sign_in(fox.person(**{"width": 1280, "height": 800, **size}), server, name, base)
    return visit(window, f"{base or server.base}/app/{path}")


def visit(window, address):
    window.open(address)
    window.until(ONLINE)
    return window


def write(window, text):
    window.fill("textbox", "Message", text)
    window.type("Enter")


def unique(text):
    return f"{text} {secrets.token_hex(3)}"


def picture(path, size=(320, 200), colour=(40, 90, 160), kind="JPEG"):
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, kind)
    path.write_bytes(file.getvalue())
    return path


def nameless_stops(window, tabs=24):
    """Of the Tab key, from where the focus is."""
    window.show()
    stops = []
    for _ in range(tabs):
        window.type("Tab")
        stops.append(window.run(NAMELESS))
    return [stop for stop in stops if stop]
