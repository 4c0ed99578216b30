"""Pictures in the web client: made small enough, shown before they leave, sent in order, taken back when refused."""

import base64
import io
import re

import pytest
from PIL import Image, ImageChops, ImageStat
from playwright.sync_api import expect

from tests.browser.chromium import InputMethod, needs_chromium
from tests.browser.client_pages import PASTE
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]
LIMIT = 5 * 1024 * 1024
# Four colours, so that it can be seen how a picture stands.
COLOURS = [(200, 30, 30), (30, 160, 30), (30, 30, 200), (220, 200, 30)]


def quarters(size, mode="RGB"):
    image = Image.new(mode, (2, 2))
    image.putdata([colour + (255,) * (len(mode) - 3) for colour in COLOURS])
    return image.resize(size, Image.Resampling.NEAREST)


def noisy(size):
    """The quarters under so much noise that a photo of this size is several megabytes large."""
    noise = Image.effect_noise(size, 60).convert("RGB")
    return ImageChops.add(quarters(size), noise, scale=1, offset=-128)


def encoded(image, kind, **options):
    content = io.BytesIO()
    image.save(content, kind, **options)
    return content.getvalue()


# How a camera stores an upright picture under each note of orientation.
STORED = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


def photo(size=(2800, 2100), orientation=1, quality=95):
    """A JPEG as a phone writes it: turned by a note, with a place and a maker in it."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "SecretMaker"
    exif.get_ifd(0x8825)[1] = "N"
    image = noisy(size)
    image = image.transpose(STORED[orientation]) if orientation in STORED else image
    return encoded(image, "JPEG", quality=quality, exif=exif)


def animation(size, kind, frames=3, noise=False):
    images = [noisy(size) if noise else quarters(size).rotate(90 * number) for number in range(frames)]
    return encoded(images[0], kind, save_all=True, append_images=images[1:], duration=100, loop=0)


PREPARE = """async ([address, name, type, options]) => {
  const { prepareImage } = await import("/static/sdk/parley.js");
  const bytes = new Uint8Array(await (await fetch(address)).arrayBuffer());
  const file = new File([bytes], name, { type });
  try {
    const ready = await prepareImage(file, options);
    const answer = new Uint8Array(await ready.arrayBuffer());
    let text = "";
    for (let at = 0; at < answer.length; at += 8192) text += String.fromCharCode(...answer.subarray(at, at + 8192));
    return { name: ready.name, type: ready.type, isSame: ready === file, content: btoa(text) };
  } catch (error) {
    return { code: error.code ?? String(error) };
  }
}"""


@pytest.fixture(scope="module")
def prepare(chromium, server):
    """Calls `prepareImage` of the SDK in a page; returns what it answers, the content as bytes."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{server.base}/docs/")

    def call(content, name="picture.jpg", kind="image/jpeg", **options):
        address = f"{server.base}/picture-of-a-test"
        page.route(address, lambda route: route.fulfill(body=content, content_type="application/octet-stream"))
        answer = page.evaluate(PREPARE, [address, name, kind, options])
        page.unroute(address)
        if "content" in answer:
            answer["content"] = base64.b64decode(answer["content"])
        return answer

    yield call
    context.close()


def assert_quarters(image):
    width, height = image.size
    for place, colour in zip([(0, 0), (1, 0), (0, 1), (1, 1)], COLOURS, strict=True):
        x, y = (int((value + 0.25) * side / 2) for value, side in zip(place, (width, height), strict=True))
        part = image.crop((x, y, x + width // 8, y + height // 8))
        mean = ImageStat.Stat(part.convert("RGB")).mean
        assert all(abs(one - other) < 40 for one, other in zip(mean, colour, strict=True)), (place, mean, colour)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photo_that_is_too_large_becomes_upright_small_and_without_metadata(prepare, orientation):
    content = photo(orientation=orientation)
    assert len(content) > LIMIT
    answer = prepare(content, "IMG_0001.JPG")
    assert (answer["name"], answer["type"], answer["isSame"]) == ("IMG_0001.jpg", "image/jpeg", False)
    assert len(answer["content"]) <= LIMIT
    assert b"SecretMaker" not in answer["content"]
    small = Image.open(io.BytesIO(answer["content"]))
    assert dict(small.getexif()) == {}
    assert small.width / small.height == pytest.approx(4 / 3, rel=0.01)
    # Not smaller than it has to be.
    assert small.width > 1500
    assert_quarters(small)


def test_what_the_api_takes_stays_as_it_is(prepare):
    for content, name, kind in (
        (photo((640, 480), 6), "small.jpg", "image/jpeg"),
        (encoded(quarters((64, 64), "RGBA"), "PNG"), "small.png", "image/png"),
        (encoded(quarters((64, 64)), "WEBP"), "small.webp", "image/webp"),
        (animation((64, 64), "GIF"), "moves.gif", "image/gif"),
        (animation((64, 64), "WEBP"), "moves.webp", "image/webp"),
        (animation((64, 64), "PNG"), "moves.png", "image/png"),
    ):
        answer = prepare(content, name, kind)
        assert answer["isSame"], name
        assert answer["content"] == content


def test_a_picture_with_too_many_pixels_or_too_long_a_side_is_scaled_below_five_megabytes_too(prepare):
    for size in ((6000, 4100), (12_400, 300), (300, 12_400)):
        content = encoded(Image.new("RGB", size, COLOURS[0]), "PNG")
        assert len(content) < LIMIT
        answer = prepare(content, "wide.png", "image/png")
        assert not answer["isSame"], size
        small = Image.open(io.BytesIO(answer["content"]))
        assert max(small.size) <= 12_000
        assert small.width * small.height <= 24_000_000
        assert small.width / small.height == pytest.approx(size[0] / size[1], rel=0.02)


def test_options_ask_for_less(prepare):
    answer = prepare(photo((2000, 1500)), maxSide=800, maxBytes=100_000)
    small = Image.open(io.BytesIO(answer["content"]))
    assert max(small.size) <= 800
    assert len(answer["content"]) <= 100_000
    assert_quarters(small)


def transparent(size, kind, **options):
    image = noisy(size).convert("RGBA")
    image.paste((0, 0, 0, 0), (0, 0, size[0] // 4, size[1] // 4))
    return encoded(image, kind, **options)


@pytest.mark.parametrize(("kind", "options"), [("PNG", {}), ("WEBP", {"lossless": True, "method": 0})])
def test_a_transparent_picture_stays_transparent(prepare, kind, options):
    content = transparent((2000, 1500), kind, **options)
    assert len(content) > LIMIT
    answer = prepare(content, f"holes.{kind.lower()}", f"image/{kind.lower()}")
    assert answer["type"] == f"image/{kind.lower()}"
    assert len(answer["content"]) <= LIMIT
    small = Image.open(io.BytesIO(answer["content"])).convert("RGBA")
    assert small.getpixel((small.width // 8, small.height // 8))[3] == 0
    assert small.getpixel((small.width - 9, small.height - 9))[3] == 255


def test_an_opaque_png_becomes_a_jpeg_only_when_it_has_to(prepare):
    answer = prepare(encoded(noisy((2000, 1500)), "PNG"), "screen.png", "image/png")
    assert (answer["name"], answer["type"]) == ("screen.jpg", "image/jpeg")
    answer = prepare(encoded(quarters((13_000, 100)), "PNG"), "drawing.png", "image/png")
    assert (answer["name"], answer["type"]) == ("drawing.png", "image/png")


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_an_animation_that_is_too_large_is_refused_not_flattened(prepare, kind):
    content = animation((13_000, 20), kind)
    assert prepare(content, f"moves.{kind.lower()}", f"image/{kind.lower()}") == {"code": "file_too_large"}
    content = animation((400, 300), kind, frames=2, noise=True)
    assert prepare(content, maxBytes=20_000) == {"code": "file_too_large"}
    # A single frame is a picture like others.
    still = encoded(noisy((400, 300)), kind)
    assert len(prepare(still, maxBytes=20_000)["content"]) <= 20_000


def test_the_content_decides_not_the_name_or_the_type(prepare):
    content = encoded(quarters((64, 64)), "PNG")
    answer = prepare(content, "IMG_1.HEIC", "image/heic")
    assert (answer["name"], answer["type"], answer["content"]) == ("IMG_1.png", "image/png", content)
    answer = prepare(content, "image", "")
    assert answer["type"] == "image/png"


def test_other_pictures_that_the_browser_reads_are_converted(prepare):
    answer = prepare(encoded(quarters((64, 64)), "BMP"), "scan.bmp", "image/bmp")
    assert (answer["name"], answer["type"]) == ("scan.jpg", "image/jpeg")
    assert_quarters(Image.open(io.BytesIO(answer["content"])))


@pytest.mark.parametrize(
    "content",
    [
        b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\0" * 200,
        b"\0\0\0\x18ftypmsf1\0\0\0\0hevc" + b"\0" * 200,
        b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
        b"%PDF-1.7 of no use",
        b"\xff\xd8\xff\xe0 is not a JPEG",
        b"\x89PNG\r\n\x1a\n is not a PNG",
        b"GIF89a",
        b"RIFF\0\0\0\0WEBP",
        b"",
    ],
    ids=["heic", "heic sequence", "svg", "pdf", "jpeg", "png", "gif", "webp", "empty"],
)
def test_what_the_browser_cannot_read_is_refused(prepare, content):
    assert prepare(content) == {"code": "unsupported_media_type"}


# --- The dialog ------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def empty(people, chat):
    for person in people.values():
        person.http.post(f"/messages/conversations/{chat}/clear").raise_for_status()


@pytest.fixture
def alice(windows, chat):
    window = windows("Alice").open_chat(chat)
    window.box.fill("")
    window.uploads = []
    window.page.on(
        "request", lambda request: window.uploads.append(request) if request.url.endswith("/media") else None
    )
    return window


def dialog(window):
    return window.page.get_by_role("dialog", name="Send picture")


def messages(people, chat):
    rows = people["Bob"].http.get(f"/messages/conversations/{chat}/messages").json()["messages"]
    return [(row["kind"], row["body"]) for row in reversed(rows)]


def small_png(size=(320, 200)):
    return encoded(quarters(size), "PNG")


def choose(window, *files):
    window.page.get_by_label("Image file").set_input_files(
        [{"name": name, "mimeType": kind, "buffer": content} for name, kind, content in files]
    )


WAYS = {
    "paste": lambda window, content: window.paste_image(content),
    "drop": lambda window, content: window.drop_image(content),
    "choose": lambda window, content: choose(window, ("picture.png", "image/png", content)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_picture_leaves_with_its_caption_only_on_order(alice, people, chat, way):
    WAYS[way](alice, small_png())
    expect(dialog(alice).get_by_role("img", name="picture.png")).to_be_visible()
    caption = dialog(alice).get_by_role("textbox", name="Caption")
    expect(caption).to_be_focused()
    dialog(alice).get_by_role("button", name="Cancel").click()
    expect(dialog(alice)).to_have_count(0)
    alice.page.wait_for_timeout(500)
    assert (alice.uploads, messages(people, chat)) == ([], [])
    WAYS[way](alice, small_png())
    caption.fill("four colours")
    dialog(alice).get_by_role("button", name="Send", exact=True).click()
    expect(dialog(alice)).to_have_count(0)
    expect(alice.article("four colours").locator("img[alt^='Image from']")).to_have_count(1)
    assert messages(people, chat) == [("image", "four colours")]
    expect(alice.box).to_have_value("")
    expect(alice.box).to_be_focused()


def test_a_text_that_is_being_written_becomes_the_caption_and_is_not_lost(alice, people, chat):
    alice.box.fill("look at this")
    alice.paste_image(small_png())
    caption = dialog(alice).get_by_role("textbox", name="Caption")
    expect(caption).to_have_value("look at this")
    assert alice.axe() == []
    caption.press("Escape")
    expect(dialog(alice)).to_have_count(0)
    expect(alice.box).to_have_value("look at this")
    alice.paste_image(small_png())
    caption.press("Shift+Enter")
    caption.press_sequentially("again")
    caption.press("Enter")
    expect(dialog(alice)).to_have_count(0)
    wait_for(
        lambda: alice.page.wait_for_timeout(100) or messages(people, chat) == [("image", "look at this\nagain")],
        what="the picture",
    )


def test_the_key_that_ends_a_word_of_an_input_method_does_not_send_the_caption(alice):
    alice.paste_image(small_png())
    caption = dialog(alice).get_by_role("textbox", name="Caption")
    caption.fill("東京")
    keys = InputMethod(alice.page)
    for key in ("Enter", "Escape"):
        keys.press(key)
    alice.page.wait_for_timeout(500)
    expect(caption).to_have_value("東京")
    assert alice.uploads == []
    dialog(alice).get_by_role("button", name="Cancel").click()


def test_several_pictures_are_messages_in_their_order(alice, people, chat):
    files = [(f"{number}.png", "image/png", small_png((100 + number, 90))) for number in range(4)]
    choose(alice, *files[:3])
    expect(dialog(alice).get_by_role("img")).to_have_count(3)
    # One more while the dialog is open, and one less.
    caption = dialog(alice).get_by_role("textbox", name="Caption")
    caption.evaluate(PASTE, [files[3][0], files[3][1], list(files[3][2])])
    expect(dialog(alice).get_by_role("img")).to_have_count(4)
    dialog(alice).get_by_role("button", name="Remove the image").nth(1).click()
    caption.fill("an album")
    caption.press("Enter")
    expect(alice.log.locator("img[alt^='Image from']")).to_have_count(3)
    rows = people["Bob"].http.get(f"/messages/conversations/{chat}/messages").json()["messages"]
    assert [row["media"]["width"] for row in reversed(rows)] == [100, 102, 103]
    assert [row["body"] or "" for row in reversed(rows)] == ["an album", "", ""]
    album = alice.log.locator(".album")
    expect(album.get_by_role("article")).to_have_count(3)
    places = album.locator(".image").evaluate_all(
        "all => all.map((e) => e.getBoundingClientRect()).map(({ x, y, width, height }) => [x, y, width, height])"
    )
    # Two beside each other and one below, all of one size.
    assert places[0][1] == places[1][1] < places[2][1] and places[0][0] == places[2][0] < places[1][0]
    assert len({(round(width), round(height)) for _, _, width, height in places}) == 1
    alice.page.set_viewport_size({"width": 360, "height": 740})
    assert alice.log.evaluate("log => log.scrollWidth <= log.clientWidth")
    assert alice.axe() == []


def test_an_album_is_of_one_person_and_without_what_has_words(alice, people, chat):
    def send(name, width, **fields):
        return people[name].send_picture(chat, small_png((width, 90)), **fields)["id"]

    first = send("Bob", 100)
    expected = [[first, send("Bob", 101)], [send("Alice", 102)]]
    expected.append([send("Bob", 103), send("Bob", 104)])
    expected.append([send("Bob", 105, body="with words"), send("Bob", 106)])
    expected.append([send("Bob", 107, reply_to_id=first), send("Bob", 108)])
    # The mark of the first unread message would divide an album.
    people["Alice"].http.post(f"/messages/conversations/{chat}/read", json={}).raise_for_status()
    alice.open_chat(chat)
    expect(alice.log.get_by_role("article")).to_have_count(9)
    drawn = """log => [...log.querySelectorAll(".log-rows > [data-key]:not(.divider)")].map((row) =>
      (row.matches("article") ? [row] : [...row.querySelectorAll("article")]).map((one) => Number(one.dataset.messageId)))"""
    assert alice.log.evaluate(drawn) == expected
    # A quote leads to the one that it is about, and the arrows go from one to the next.
    alice.log.get_by_role("button", name="Go to the original message").click()
    expect(alice.log.locator(f"[data-message-id='{first}']")).to_have_class(re.compile("marked"))
    alice.log.locator(f"[data-message-id='{first}']").focus()
    alice.page.keyboard.press("ArrowDown")
    expect(alice.log.locator(f"[data-message-id='{expected[0][1]}']")).to_be_focused()
    # What the last one is deleted from is an album no more.
    people["Bob"].http.delete(f"/messages/messages/{expected[0][1]}").raise_for_status()
    expect(alice.log.locator(".album")).to_have_count(3)


def test_a_photo_of_a_phone_is_sent_and_what_cannot_be_sent_is_said(alice, people, chat):
    choose(
        alice,
        ("IMG_1.heic", "", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\0" * 99),
        ("notes.pdf", "application/pdf", b"%PDF-1.7"),
        ("huge.gif", "image/gif", animation((13_000, 20), "GIF")),
        ("huge.jpg", "image/jpeg", photo(orientation=6)),
    )
    notices = dialog(alice).locator(".notices")
    for text in ("IMG_1.heic is not an image", "notes.pdf is not an image", "huge.gif is too large: an animated image"):
        expect(notices).to_contain_text(text)
    expect(dialog(alice).get_by_role("img")).to_have_count(1)
    dialog(alice).get_by_role("button", name="Send", exact=True).click()
    expect(alice.log.locator("img[alt^='Image from']")).to_have_count(1)
    [row] = people["Bob"].http.get(f"/messages/conversations/{chat}/messages").json()["messages"]
    assert row["media"]["width"] / row["media"]["height"] == pytest.approx(4 / 3, rel=0.01)


def test_nothing_but_files_that_cannot_be_sent_leaves_a_sentence_and_no_dialog(alice):
    alice.paste_image(b"not a picture", name="strange.png")
    expect(alice.page.locator(".notice")).to_contain_text("strange.png is not an image that this browser can read.")
    expect(dialog(alice)).to_have_count(0)


CLIPBOARD = """(box, [texts, names]) => {
  const data = new DataTransfer();
  for (const [type, text] of Object.entries(texts)) data.setData(type, text);
  for (const name of names) data.items.add(new File([new Uint8Array(9)], name, { type: "image/png" }));
  box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""
CELLS = "<style>td {}</style><table><tr><td>Apples</td><td>3</td></tr></table>"
WEB_PICTURE = '<meta charset="utf-8"><img src="https://example.com/a.png" alt="a cat">'


@pytest.mark.parametrize(
    ("texts", "names", "expected"),
    [
        ({"text/plain": "Apples\t3\r\nPears\t4\r\n", "text/html": CELLS}, ["image.png"], "Apples\t3\nPears\t4"),
        ({"text/plain": "a paragraph", "text/html": f"<p>a paragraph{WEB_PICTURE}</p>"}, ["image.png"], "a paragraph"),
        ({"text/plain": "Apples\t3"}, ["image.png"], "Apples\t3"),
        # Pictures: of a web page, of a file manager, of the screen.
        ({"text/html": WEB_PICTURE}, ["image.png"], None),
        ({"text/plain": "https://example.com/a.png", "text/html": WEB_PICTURE}, ["image.png"], None),
        ({"text/plain": "holiday photo.png"}, ["holiday photo.png"], None),
        ({"text/plain": "/home/ann/a.png\n/home/ann/b.png"}, ["a.png", "b.png"], None),
        ({}, ["image.png"], None),
    ],
)
def test_cells_of_a_spreadsheet_are_pasted_as_text_and_pictures_as_pictures(alice, texts, names, expected):
    # The pictures of this test are none: what is asked for is what the paste was taken for.
    alice.box.fill("before ")
    alice.box.evaluate(CLIPBOARD, [texts, names])
    if expected is None:
        expect(alice.page.locator(".notices").last).to_contain_text("is not an image")
        expect(alice.box).to_have_value("before ")
    else:
        expect(alice.box).to_have_value(f"before {expected}")
        expect(dialog(alice)).to_have_count(0)
    alice.box.fill("")


@pytest.mark.parametrize(("status", "code"), [(415, "unsupported_media_type"), (400, "invalid_image")])
def test_a_picture_that_the_server_refuses_can_only_be_removed(alice, status, code):
    body = {"ok": False, "error": code, "message": "The file is broken.", "request_id": "1"}
    alice.page.route("**/media", lambda route: route.fulfill(status=status, json=body))
    alice.paste_image(small_png())
    dialog(alice).get_by_role("button", name="Send", exact=True).click()
    row = alice.log.get_by_role("article").filter(has_text="The file is broken.")
    expect(row.get_by_role("status", name="Not sent")).to_be_visible()
    expect(row.get_by_role("button", name="Send again")).to_have_count(0)
    row.get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)
    alice.complaints.clear()


def test_the_log_follows_pictures_that_are_sent(alice, people, chat):
    for number in range(20):
        people["Alice"].send(chat, f"Line {number} of a talk")
    expect(alice.article("Line 19 of a talk")).to_be_in_viewport(ratio=1)
    answers = []
    alice.page.route("**/media", lambda route: answers.append(route))
    for number in range(3):
        alice.paste_image(small_png((800, 600 + number)))
        dialog(alice).get_by_role("button", name="Send", exact=True).click()
        row = alice.log.locator("article[data-client-id]").last
        expect(row.get_by_role("img", name="Image being sent")).to_be_in_viewport(ratio=0.99)
        before = row.bounding_box()["height"]
        alice.page.wait_for_timeout(300)
        assert row.bounding_box()["height"] == before
        assert alice.log.evaluate("log => log.scrollHeight - log.clientHeight - log.scrollTop") <= 2
        wait_for(lambda: alice.page.wait_for_timeout(50) or answers, what="the upload")
        answers.pop().continue_()
        sent = alice.log.locator("img[alt^='Image from']").nth(number)
        expect(sent).to_be_visible()
        assert alice.log.evaluate("log => log.scrollHeight - log.clientHeight - log.scrollTop") <= 2
    assert re.search("Line 19", alice.texts()[-1])
