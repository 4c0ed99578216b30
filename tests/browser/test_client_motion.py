"""Nothing moves for users who have asked their system for reduced motion."""

import re
import secrets

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]

# Notes every transition and animation of the page that takes longer than a millisecond.
NOTE_MOTION = """
  window.motions = [];
  const note = ({ target, animationName, propertyName }) => {
    const name = animationName ?? propertyName;
    for (const animation of target.getAnimations({ subtree: true })) {
      if (animation.effect.getComputedTiming().endTime > 1) window.motions.push(`${name} of ${target.getAttribute("class")}`);
    }
  };
  for (const type of ["transitionrun", "animationstart"]) document.addEventListener(type, note, true);
"""
# How often a row comes, goes or changes within a second.
REDRAWN = """async () => {
  let count = 0;
  const watcher = new MutationObserver((records) => { count += records.length; });
  watcher.observe(document.querySelector("[role=log]"), { childList: true, subtree: true, attributes: true });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  watcher.disconnect();
  return count;
}"""
FOREVER = "() => document.getAnimations().filter((row) => row.effect.getComputedTiming().endTime > 1).length"


@pytest.mark.parametrize("preference", ["reduce", "no-preference"])
def test_motion_follows_the_preference_of_the_reader(windows, people, chat, preference):
    """The second preference shows that the measure sees motion at all."""
    moves = preference == "no-preference"
    alice, bob = (windows(name, reduced_motion=preference) for name in ("Alice", "Bob"))
    seen = []

    def collect(window):
        window.page.wait_for_timeout(400)
        seen.extend(window.page.evaluate("() => window.motions"))

    for window in (alice, bob):
        window.context.add_init_script(NOTE_MOTION)
    bob.open("settings/notifications")
    switch = bob.page.get_by_role("switch", name="Likes")
    switch.click()
    switch.click()
    collect(bob)

    text = f"seen {secrets.token_hex(3)}"
    people["Bob"].send(chat, text)
    alice.open_chat(chat)
    alice.article(text).hover()
    alice.page.get_by_role("button", name="Voice call", exact=True).click()
    expect(bob.page.get_by_role("alertdialog")).to_be_visible()
    collect(bob)
    assert bool(bob.page.evaluate(FOREVER)) is moves
    bob.page.get_by_role("button", name="Decline").click()
    expect(alice.page.locator(".call-end")).to_be_visible()
    collect(alice)
    held = []
    alice.page.route(re.compile(r"/api/v1/calls(\?|$)"), lambda route: held.append(route))
    # The navigation has them already, to count the missed ones.
    alice.page.reload()
    alice.page.get_by_role("link", name="Calls").click()
    expect(alice.page.get_by_role("progressbar", name="Loading")).to_be_visible()
    assert bool(alice.page.evaluate(FOREVER)) is moves
    for route in held:
        route.continue_()
    assert bool(seen) is moves, seen


def test_a_long_conversation_stands_still_without_motion(windows, people, chat):
    """A size that a transition holds back by a frame would be measured wrong: rows would come and go for ever."""
    alice = windows("Alice", reduced_motion="reduce")
    for number in range(150):
        people["Bob"].send(chat, f"{number} {'along the river ' * (number % 9)}")
    alice.open_chat(chat)
    expect(alice.page.get_by_text("Unread messages")).to_be_in_viewport()
    for _ in range(6):
        alice.page.wait_for_timeout(600)
        assert alice.page.evaluate(REDRAWN) == 0
        alice.log.hover()
        alice.page.mouse.wheel(0, 700)
