"""Chromium shows a file of a real device and what the intake makes of it alike: pixels, frames, milliseconds, repetitions."""

import base64

import pytest
from PIL import Image
from playwright.sync_api import Error

from core.images import pool
from tests.browser.chromium import needs_chromium
from tests.images.devices import DEVICES, Shown
from tests.images.test_devices import difference

pytestmark = [pytest.mark.once, needs_chromium]

SHOWN = """async ([text, type, isAnimated]) => {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const frames = [];
    const draw = (image, width, height, milliseconds) => {
        const canvas = new OffscreenCanvas(width, height);
        const context = canvas.getContext("2d", {willReadFrequently: true});
        context.drawImage(image, 0, 0);
        const pixels = context.getImageData(0, 0, width, height).data;
        frames.push([width, height, milliseconds, btoa(String.fromCharCode(...pixels))]);
    };
    if (!isAnimated) {
        const image = new Image();
        const loaded = new Promise((resolve, reject) => {
            image.onload = resolve;
            image.onerror = () => reject(new Error("not shown"));
        });
        image.src = URL.createObjectURL(new Blob([bytes], {type}));
        await loaded;
        draw(image, image.naturalWidth, image.naturalHeight, 0);
        return {frames, repetitions: 0};
    }
    const decoder = new ImageDecoder({data: bytes, type});
    await decoder.tracks.ready;
    await decoder.completed;
    const track = decoder.tracks.selectedTrack;
    for (let number = 0; number < track.frameCount; number++) {
        const {image} = await decoder.decode({frameIndex: number});
        draw(image, image.displayWidth, image.displayHeight, Math.round((image.duration ?? 0) / 1000) || 100);
    }
    return {frames, repetitions: track.repetitionCount};
}"""
# What Chromium does not do: it shows no JPEG that starts twice, turns no WebP, takes primaries with the gamma of sRGB for a
# curve that differs from sRGB's in the shadows, and leaves the last row of blocks of a JPEG without its end empty.
OTHERWISE = {
    "start of image twice",
    "WebP sideways",
    "gamma and primaries of sRGB",
    "without its end marker",
    "cut in the marker",
    "a few bytes short",
}


@pytest.fixture(scope="module")
def shown(chromium):
    page = chromium.new_page()
    # Decoders exist in a secure context only.
    page.route("http://localhost/**", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto("http://localhost/")

    def show(data, mime, *, is_animated):
        answer = page.evaluate(SHOWN, [base64.b64encode(data).decode(), mime, is_animated])
        frames = [
            (Image.frombytes("RGBA", (width, height), base64.b64decode(pixels)), milliseconds)
            for width, height, milliseconds, pixels in answer["frames"]
        ]
        return frames, answer["repetitions"]

    yield show
    page.close()


@pytest.mark.parametrize("kind", sorted({name.split()[0] for name in DEVICES}))
def test_pictures_look_the_same(kind, shown):
    """Files whose names begin with the same word."""
    differing = {}
    for name in DEVICES:
        if name.split()[0] != kind or name in OTHERWISE:
            continue
        file = DEVICES[name]
        data, picture = file.make(), pool.picture(file.make())
        is_animated = isinstance(file.shown(), Shown)
        try:
            before, times = shown(data, picture.mime, is_animated=is_animated)
        except Error as error:
            differing[name] = error.message
            continue
        after, times_after = shown(picture.content, picture.mime, is_animated=is_animated)
        if before[0][0].size != after[0][0].size:
            differing[name] = (before[0][0].size, after[0][0].size)
            continue
        facts = ([ms for _, ms in before], times), ([ms for _, ms in after], times_after)
        if facts[0] != facts[1]:
            differing[name] = facts
            continue
        distance = max(difference(one, other) for (one, _), (other, _) in zip(before, after, strict=True))
        if distance > file.tolerance + 1:
            differing[name] = distance
    assert differing == {}
