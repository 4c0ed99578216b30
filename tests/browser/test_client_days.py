"""The day of what a reader of a long conversation sees stands at the top of the window."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]

TO_PLACE = """(top) => {
  const log = document.querySelector("[role=log]");
  log.scrollTop = top;
  log.dispatchEvent(new Event("scroll"));
}"""


def test_the_day_stays_at_the_top_while_the_reader_scrolls(windows, people, chat):
    for number in range(60):
        people["Bob"].send(chat, f"of three days {number}")
    alice = windows("Alice")
    now = datetime.now(UTC)

    def spread(route):
        """The newest twenty messages are of today, twenty of yesterday, the others of a day long ago."""
        reply = route.fetch()
        content = reply.json()
        for message in content.get("messages", []):
            number = message["body"].removeprefix("of three days ")
            number = int(number) if number.isdecimal() else -1
            days = 0 if number >= 40 else 1 if number >= 20 else 40
            message["created_at"] = (now - timedelta(days=days)).strftime("%Y-%m-%dT12:00:00.000000Z")
        route.fulfill(response=reply, json=content)

    alice.page.route("**/conversations/*/messages?*", spread)
    alice.open_chat(chat)
    day = alice.page.locator(".divider.stays")
    alice.page.get_by_role("button", name=re.compile("Jump to latest")).click()
    alice.sees("of three days 59")
    expect(day).to_have_text("Today")
    seen = []
    height = alice.log.evaluate("(log) => log.scrollHeight")
    for top in range(height, -1, -200):
        alice.page.evaluate(TO_PLACE, top)
        alice.page.wait_for_timeout(60)
        text = day.inner_text() if day.count() else ""
        if text and text not in seen:
            seen.append(text)
    assert seen[:2] == ["Today", "Yesterday"]
    assert len(seen) == 3
    assert alice.axe() == []
