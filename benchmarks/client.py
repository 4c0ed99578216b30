"""python -m benchmarks.client: the web client in Chromium: first page, scrolling, sending, memory.

Processor time of the page's main thread where time is told, so that other work on the machine counts little.
Needs Chromium; the server is `manage.py serve` with SQLite.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.report import show
from tests.browser.chromium import browser
from tests.browser.client_pages import Api, Window, demo_people
from tests.browser.long_conversation import Meter, receive, stretch
from tests.server import RunningServer

# From the start of the navigation until the page has drawn a link or button that can be used.
READY = """() => new Promise((resolve) => {
  const look = () => document.querySelector("a[href], button, pre") ? resolve(performance.now()) : requestAnimationFrame(look);
  look();
})"""
# A wheel's worth in each frame, from the first message downwards. Returns the milliseconds between frames.
SCROLL = """async ([frames, step]) => {
  const log = document.querySelector('[role=log]');
  const [began, times] = [log.scrollTop, []];
  for (let frame = 0; frame <= frames; frame += 1) {
    times.push(await new Promise(requestAnimationFrame));
    log.scrollTop += step;
  }
  if (log.scrollTop - began < frames * step / 2) throw new Error("The log has not scrolled.");
  return times.slice(1).map((time, place) => time - times[place]);
}"""
# From the key to the frame that shows the message.
SEND = """async (text) => {
  const box = document.querySelector("textarea.message-box");
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(box, text);
  box.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise(requestAnimationFrame);
  const began = performance.now();
  box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  const shown = () => [...document.querySelectorAll("article")].some((article) => article.textContent.includes(text));
  while (!shown()) await new Promise((resolve) => setTimeout(resolve));
  await new Promise(requestAnimationFrame);
  await new Promise((resolve) => setTimeout(resolve));
  return performance.now() - began;
}"""


def median(values: list[float]) -> float:
    return statistics.median(values)


def first_page(chromium: Any, server: RunningServer, rounds: int) -> Iterator[dict[str, Any]]:
    """Each round a browser without a cache; the bare page is an answer of the same server without any file."""
    times: dict[str, list[float]] = {"/healthz": [], "/": []}
    for _ in range(rounds):
        for path, seconds in times.items():
            context = chromium.new_context()
            page = context.new_page()
            page.goto(server.base + path, wait_until="commit")
            seconds.append(page.evaluate(READY))
            size = 0
            if path == "/":
                page.wait_for_load_state("networkidle")
                size = int(page.evaluate(
                    "() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
                    ".reduce((sum, entry) => sum + entry.encodedBodySize, 0)"
                ))  # fmt: skip
            context.close()
    bare, client = median(times["/healthz"]), median(times["/"])
    yield {"work": "first page, KB compressed", "measured": round(size / 1024, 1), "goal": 60}
    yield {"work": "first interaction, s", "measured": round(client / 1000, 2), "goal": 1.0}
    yield {"work": "the same of a bare page, s", "measured": round(bare / 1000, 2), "goal": None}


def conversation(window: Window, messages: int, frames: int, sends: int) -> Iterator[dict[str, Any]]:
    page, meter = window.page, Meter(window.page)
    stretch(page, messages)
    page.wait_for_timeout(500)
    before = meter.seconds()
    gaps = page.evaluate(SCROLL, [frames, 400])
    used = (meter.seconds() - before) / frames * 1000
    yield {"work": f"a frame of scrolling through {messages:,}, CPU ms", "measured": round(used, 1), "goal": 16.7}
    yield {"work": "the same, ms from frame to frame", "measured": round(median(gaps), 1), "goal": None}
    yield {"work": "elements of the page then", "measured": meter.elements(), "goal": 5_000}
    page.get_by_role("button", name="Jump to latest").click()
    page.wait_for_timeout(500)
    shown = [page.evaluate(SEND, f"measured {number}") for number in range(sends)]
    yield {"work": f"a sent message is shown below {messages:,}, ms", "measured": round(median(shown), 1), "goal": 50}


def memory(window: Window, messages: int) -> Iterator[dict[str, Any]]:
    """An hour of a lively chat: messages of both with typing between them; a first part fills what is kept on purpose."""
    page, meter = window.page, Meter(window.page)
    sizes = []
    for third in range(3):
        receive(page, messages // 3, start=third * (messages // 3))
        sizes.append(meter.heap())
    for name, size in zip(("a third", "two thirds", "all"), sizes, strict=True):
        yield {
            "work": f"heap after {name} of {messages:,} messages, MB",
            "measured": round(size / 2**20, 1),
            "goal": None,
        }
    yield {"work": "heap at the end beside the first third", "measured": round(sizes[2] / sizes[0], 2), "goal": 1.1}


@contextmanager
def running() -> Iterator[RunningServer]:
    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(Path(folder), RATELIMIT_ENABLE="0")
        server.start(demo=True)
        try:
            yield server
        finally:
            server.kill()


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    with running() as server, browser() as chromium:
        logins = demo_people(server)
        chat = Api(server, logins["Alice"]).chat_with(Api(server, logins["Bob"]))
        rows = [*first_page(chromium, server, options.rounds)]
        for work in (
            lambda window: conversation(window, options.messages, options.frames, options.sends),
            lambda window: memory(window, options.hour),
        ):
            window = Window(chromium, server, logins["Alice"]).open_chat(chat)
            rows += work(window)
            window.close()
        return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--sends", type=int, default=15)
    parser.add_argument("--hour", type=int, default=3_600, help="messages that stand for an hour")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    show(measure(options), as_json=options.json)


if __name__ == "__main__":
    main()
