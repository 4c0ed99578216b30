"""Every file of the corpus gets its answer, and nothing of its metadata comes out again."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from accounts.images import access
from core.api.exceptions import ApiError, InvalidImage, ServiceUnavailable
from core.images import pool
from tests.images import corpus
from tests.parallel import parallel_outcomes

pytestmark = pytest.mark.once


@pytest.mark.parametrize("name", corpus.CORPUS)
def test_each_file_gets_its_answer(name):
    make, answer = corpus.CORPUS[name]
    data = make()
    if answer == corpus.OK:
        picture = pool.picture(data)
        for content in (picture.content, picture.thumbnail):
            assert corpus.SECRET not in content
            with Image.open(io.BytesIO(content)) as result:
                result.load()
                assert not result.getexif()
                assert not {"comment", "icc_profile", "exif", "xmp", "XML:com.adobe.xmp"} & set(result.info)
        assert len(picture.blurhash) > 6
        assert pool.picture(data, avatar=True).width == 512
    else:
        with pytest.raises(ApiError) as refused:
            pool.picture(data)
        assert refused.value.default_code == answer


def test_the_camera_s_orientation_is_applied():
    picture = pool.picture(corpus.with_gps())
    assert (picture.width, picture.height) == (40, 60)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_animation_is_kept(kind):
    picture = pool.picture(corpus.animated(kind, frames=5))
    with Image.open(io.BytesIO(picture.content)) as result:
        assert result.format == kind
        assert result.n_frames == 5
        result.load()
        assert result.info.get("duration") == 120


def test_a_gif_that_plays_once_still_does():
    frames = [Image.new("RGB", (24, 24), (n * 40, 200, 90)) for n in range(3)]
    once = corpus.encoded(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=120)
    with Image.open(io.BytesIO(pool.picture(once).content)) as result:
        assert (result.n_frames, "loop" in result.info) == (3, False)


def test_alpha_is_kept():
    clear = Image.new("RGBA", (10, 10), (10, 20, 30, 0))
    for kind in ("PNG", "WEBP"):
        with Image.open(io.BytesIO(pool.picture(corpus.encoded(clear, kind)).content)) as result:
            assert result.convert("RGBA").getpixel((5, 5))[3] == 0


def test_a_thumbnail_has_no_side_over_480():
    picture = pool.picture(corpus.encoded(Image.new("RGB", (1600, 900)), "PNG"))
    with Image.open(io.BytesIO(picture.thumbnail)) as thumbnail:
        assert thumbnail.size == (480, 270)
    assert (picture.width, picture.height) == (1600, 900)


def peak_mb(pid: int) -> int:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) // 1024


@pytest.fixture
def decoders(monkeypatch):
    """Decoding processes of this test alone."""
    fresh = pool._Pool()
    monkeypatch.setattr(pool, "_pool", fresh)
    yield fresh
    fresh.close()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory from /proc")
def test_bombs_take_no_memory(decoders):
    before = peak_mb(os.getpid())
    for name, (make, answer) in corpus.CORPUS.items():
        if answer != corpus.BROKEN or "bomb" not in name:
            continue
        data = make()
        before = max(before, peak_mb(os.getpid()))
        with pytest.raises(ApiError):
            pool.picture(data)
        # Without the look at the headers, too: the process that decodes has limits of its own.
        with pytest.raises(ApiError):
            decoders.convert(data, avatar=False)
    assert peak_mb(os.getpid()) - before < 50
    assert max(peak_mb(pid) for pid in pool.decoder_pids()) < 250


LARGEST = {
    "jpeg": ("JPEG", "RGB", {"quality": 30}),
    "jpeg progressive, all colours": ("JPEG", "RGB", {"quality": 30, "progressive": True, "subsampling": 0}),
    "jpeg cmyk": ("JPEG", "CMYK", {"quality": 30, "progressive": True, "subsampling": 0}),
    "png": ("PNG", "RGBA", {"compress_level": 1}),
    "png grey with alpha": ("PNG", "LA", {"compress_level": 1}),
    "webp": ("WEBP", "RGB", {"quality": 1, "method": 0}),
    "webp lossless": ("WEBP", "RGBA", {"lossless": True, "quality": 0, "method": 0}),
    "gif": ("GIF", "P", {}),
}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory from /proc")
@pytest.mark.parametrize("name", LARGEST)
def test_the_largest_pictures_take_no_more_than_is_said(name, decoders):
    """24 megapixels of each format, with an orientation, are accepted within 250 MB."""
    kind, mode, options = LARGEST[name]
    exif = Image.Exif()
    exif[0x0112] = 6
    tall = Image.linear_gradient("L").resize((6_000, 4_000)).convert(mode)
    if "lossless" in name:
        tall = Image.new(mode, tall.size, (10, 20, 30, 40))
    data = corpus.encoded(tall, kind, **options, **({} if kind == "GIF" else {"exif": exif}))
    assert pool.picture(data).width in ((6_000, 3_000) if kind == "GIF" else (4_000, 2_000))
    assert max(peak_mb(pid) for pid in pool.decoder_pids()) < 250


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory from /proc")
@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
@pytest.mark.parametrize(("frames", "size"), [(2, (5_000, 3_000)), (5, (3_000, 2_000)), (10, (2_000, 1_500))])
@pytest.mark.slow
def test_animations_with_the_most_pixels_of_all_frames_are_accepted(kind, frames, size, decoders):
    base = Image.linear_gradient("L").resize(size).convert("RGB")
    pictures = []
    for number in range(frames):
        pictures.append(base.copy())
        pictures[-1].paste((number * 20, 99, 7), (0, 0, 400, 300))
    options = {"quality": 40, "method": 0} if kind == "WEBP" else {}
    data = corpus.encoded(pictures[0], kind, save_all=True, append_images=pictures[1:], duration=70, **options)
    picture = pool.picture(data)
    assert picture.width in (size[0], size[0] // 2, size[0] // 4)
    with Image.open(io.BytesIO(picture.content)) as stored:
        assert (stored.n_frames, stored.size) == (frames, (picture.width, picture.height))
        stored.seek(frames - 1)
        stored.load()
        assert stored.info["duration"] == 70
    assert max(peak_mb(pid) for pid in pool.decoder_pids()) < 250


def test_what_is_stored_does_not_grow_beyond_eight_megabytes(decoders):
    """Encoded again, this noise would take two and a half times the upload."""
    noise = Image.effect_noise((6_000, 4_000), 80).convert("RGB")
    uploaded = corpus.encoded(noise, "JPEG", quality=5)
    assert len(uploaded) < corpus.FIVE_MB
    picture = pool.picture(uploaded)
    assert (picture.width, picture.height) == (3_000, 2_000)
    assert len(picture.content) <= 8 * 1024 * 1024
    if os.path.exists("/proc/self/status"):
        assert max(peak_mb(pid) for pid in pool.decoder_pids()) < 250


# The real decoder, in a process of its own, with a smaller limit than the one it has.
HALVED = """
import json, sys
from core.images import decoder as image_decoder
image_decoder.MAX_STORED_BYTES = int(sys.argv[1])
head, content, _ = image_decoder.convert(sys.stdin.buffer.read(), avatar=False)
print(json.dumps([head["width"], head["height"], len(content)]))
"""


@pytest.mark.parametrize("name", ["jpeg", "png", "gif", "webp", "animated gif", "animated png", "animated webp"])
def test_pictures_of_each_kind_are_halved_when_their_bytes_are_too_many(name):
    *animation, kind = name.split()
    if animation:
        frames = [corpus.photo(64 + number, 48).resize((64, 48)) for number in range(4)]
        data = corpus.encoded(frames[0], kind.upper(), save_all=True, append_images=frames[1:])
    else:
        data = corpus.encoded(corpus.photo(64, 48), kind.upper())
    whole = pool.picture(data)
    limit = str(len(whole.content) - 1)
    done = subprocess.run([sys.executable, "-c", HALVED, limit], input=data, capture_output=True, check=True)
    width, height, size = json.loads(done.stdout)
    assert (width, height) == (whole.width // 2, whole.height // 2)
    assert size < len(whole.content)


def test_a_process_that_was_killed_is_replaced(decoders):
    pool.picture(corpus.png())
    [pid] = pool.decoder_pids()
    os.kill(pid, signal.SIGKILL)
    assert pool.picture(corpus.png()).width == 64
    assert pool.decoder_pids() != [pid]


def test_a_picture_that_takes_too_long_is_refused(decoders, monkeypatch):
    monkeypatch.setattr(pool, "DEADLINE_SECONDS", 0.01)
    with pytest.raises(InvalidImage):
        pool.picture(corpus.encoded(Image.new("RGB", (4_000, 4_000)), "PNG"))
    assert pool.decoder_pids() == []


def test_a_request_without_a_slot_is_asked_to_retry(decoders):
    """Two decode, twelve wait for a moment; the others are refused at once."""
    data = corpus.encoded(Image.new("RGB", (4_800, 4_800)), "PNG")

    def upload(_number: int) -> str:
        try:
            pool.picture(data)
        except ServiceUnavailable as refused:
            return f"retry after {refused.retry_after}"
        return "ok"

    answers = parallel_outcomes(24, upload, seconds=120)
    assert set(answers) == {"ok", f"retry after {pool.RETRY_SECONDS}"}
    assert answers.count("ok") <= pool.MAX_DECODERS + pool.MAX_WAITING
    assert len(pool.decoder_pids()) <= pool.MAX_DECODERS


def test_a_path_is_signed_for_one_picture_and_one_size(settings):
    path = access.media_path("abc")
    token, _, query = path.removeprefix("/api/v1/media/").partition("?")
    parameters = dict(pair.split("=") for pair in query.split("&"))
    assert token == "abc"
    assert access.signature_is_valid("abc", thumb=False, query=parameters)
    assert not access.signature_is_valid("abd", thumb=False, query=parameters)
    assert not access.signature_is_valid("abc", thumb=True, query=parameters)
    later = str(int(parameters["e"]) + 1)
    for odd in (later, "0" + parameters["e"], "", "x", "-1", "1e9", "٣", "9" * 40):
        assert not access.signature_is_valid("abc", thumb=False, query=parameters | {"e": odd})
    assert not access.signature_is_valid("abc", thumb=False, query=parameters | {"x": "1"})
