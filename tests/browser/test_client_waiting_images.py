"""Images that wait to be sent: they survive a reload, leave once, and belong to their user alone."""

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium, wait_until
from tests.browser.client_pages import SIGN_IN, demo_people
from tests.browser.test_client_chat import picture
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]
UPLOADS = "**/messages/conversations/*/media"
# How many files this browser keeps.
KEPT = """async () => {
  const open = indexedDB.open("parley.outbox", 1);
  await new Promise((resolve) => { open.onsuccess = resolve; });
  const database = open.result;
  const count = database.transaction("files").objectStore("files").count();
  await new Promise((resolve) => { count.onsuccess = resolve; });
  database.close();
  return count.result;
}"""


@pytest.fixture
def waiting(windows, people, chat):
    """Alice with an image that waits, as its upload does not get through."""
    people["Alice"].http.post(f"/messages/conversations/{chat}/clear").raise_for_status()
    alice = windows("Alice").open_chat(chat)
    alice.page.route(UPLOADS, lambda route: route.abort())
    alice.paste_image(picture((64, 64)))
    alice.send_pictures("with a caption")
    expect(alice.log.get_by_role("img", name="Image being sent")).to_be_visible()
    wait_until(alice.page, f"async () => (await ({KEPT})()) === 1")
    yield alice
    alice.complaints.clear()


def bodies(people, chat):
    return [
        row["body"] for row in people["Alice"].http.get(f"/messages/conversations/{chat}/messages").json()["messages"]
    ]


def test_a_reload_keeps_an_image_that_waits_and_it_is_sent_once(waiting, people, chat):
    waiting.page.reload()
    image = waiting.log.get_by_role("img", name="Image being sent")
    expect(image).to_be_visible()
    image.evaluate("image => image.decode()")
    waiting.page.unroute(UPLOADS)
    waiting.page.reload()
    expect(waiting.article("with a caption").locator("img[alt^='Image from']")).to_have_count(1)
    expect(image).to_have_count(0)
    assert bodies(people, chat) == ["with a caption"]
    wait_until(waiting.page, f"async () => (await ({KEPT})()) === 0")


def test_another_tab_sends_the_image_of_one_that_was_closed(waiting, people, chat):
    other = waiting.context.new_page()
    waiting.page.close()
    other.goto(f"{waiting.base}/app/chats/{chat}")
    wait_for(lambda: other.wait_for_timeout(200) or bodies(people, chat) == ["with a caption"], what="the image")
    wait_until(other, f"async () => (await ({KEPT})()) === 0")


def test_an_image_whose_file_cannot_be_read_for_a_moment_is_kept(waiting, people, chat):
    waiting.page.add_init_script("""
        const get = IDBObjectStore.prototype.get;
        let failures = 2;
        IDBObjectStore.prototype.get = function (key) {
            if (failures-- > 0) throw new DOMException("cannot be read", "UnknownError");
            return get.call(this, key);
        };
    """)
    waiting.page.reload()
    expect(waiting.log.get_by_role("img", name="Image being sent")).to_be_visible()
    waiting.page.unroute(UPLOADS)
    expect(waiting.article("with a caption").locator("img[alt^='Image from']")).to_have_count(1)
    assert bodies(people, chat) == ["with a caption"]


def test_an_image_that_is_discarded_is_deleted(waiting, people, chat):
    waiting.page.reload()
    waiting.article("with a caption").get_by_role("button", name="Cancel").click()
    expect(waiting.article("with a caption")).to_have_count(0)
    wait_until(waiting.page, f"async () => (await ({KEPT})()) === 0")
    waiting.page.unroute(UPLOADS)
    waiting.page.reload()
    expect(waiting.log).to_be_visible()
    assert bodies(people, chat) == []


def test_a_sign_out_deletes_images_that_wait(waiting, people, chat):
    waiting.page.evaluate("async () => (await import('/static/app/session.js')).signOut()")
    waiting.page.wait_for_url("**/app/")
    wait_until(waiting.page, f"async () => (await ({KEPT})()) === 0")
    waiting.page.unroute(UPLOADS)
    assert bodies(people, chat) == []


def test_an_image_that_waits_goes_with_a_session_that_is_ended_elsewhere(waiting, server, people, chat):
    """The browser may be in other hands: nothing stays in it, and no other user sees or sends what waited."""
    token = waiting.page.evaluate("async () => (await import('/static/app/client.js')).parley.session.token")
    people["Alice"].http.post("/auth/logout", headers={"Authorization": f"Bearer {token}"}).raise_for_status()
    expect(waiting.page.get_by_role("heading", name="Signed out")).to_be_visible()
    waiting.page.unroute(UPLOADS)
    waiting.page.evaluate(SIGN_IN, list(demo_people(server)["Bob"].values()))
    waiting.page.goto(f"{waiting.base}/app/chats/{chat}")
    expect(waiting.page.get_by_role("heading", name="Alice Archer")).to_be_visible()
    waiting.page.wait_for_timeout(1_500)
    expect(waiting.log.get_by_role("img", name="Image being sent")).to_have_count(0)
    assert bodies(people, chat) == []
    assert waiting.page.evaluate(KEPT) == 0
