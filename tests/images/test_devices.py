"""Pictures of real devices look the same after the intake: upright, in their colours, with their frames."""

import io

import pytest
from PIL import Image, ImageChops, ImageStat

from core.images import pool
from tests.images import corpus
from tests.images.devices import DEVICES, Shown

pytestmark = pytest.mark.once


def frames_of(content: bytes) -> list[tuple[Image.Image, int]]:
    with Image.open(io.BytesIO(content)) as stored:
        frames = []
        for number in range(getattr(stored, "n_frames", 1)):
            stored.seek(number)
            stored.load()
            frames.append((stored.convert("RGBA"), round(stored.info.get("duration", 0))))
        return frames


def difference(one: Image.Image, other: Image.Image) -> float:
    """The largest mean difference of a channel; colours count as far as they are seen."""
    assert one.size == other.size
    pair = []
    for image in (one.convert("RGBA"), other.convert("RGBA")):
        seen = Image.new("RGBA", image.size, (0, 0, 0, 0))
        seen.paste(image.convert("RGB"), mask=image.getchannel("A"))
        seen.putalpha(image.getchannel("A"))
        pair.append(seen)
    return max(ImageStat.Stat(ImageChops.difference(*pair)).mean)


@pytest.mark.parametrize("name", DEVICES)
def test_it_looks_the_same(name):
    file = DEVICES[name]
    data, shown = file.make(), file.shown()
    picture = pool.picture(data)
    for content in (picture.content, picture.thumbnail):
        assert corpus.SECRET not in content
    stored = frames_of(picture.content)
    if isinstance(shown, Shown):
        assert [duration for _, duration in stored] == [duration for _, duration in shown.frames]
        with Image.open(io.BytesIO(picture.content)) as animation:
            assert animation.info.get("loop") == shown.loop
        expected = [frame for frame, _ in shown.frames]
    else:
        expected = [shown]
        assert len(stored) == 1
    for (frame, _), seen in zip(stored, expected, strict=True):
        assert difference(frame, seen) <= file.tolerance
    # What is shown first, small and in a circle.
    [(thumbnail, _)] = frames_of(picture.thumbnail)
    assert difference(thumbnail, expected[0].convert("RGBA").resize(thumbnail.size)) <= file.tolerance + 4
    [(avatar, _)] = frames_of(pool.picture(data, avatar=True).content)
    assert avatar.size == (512, 512)
