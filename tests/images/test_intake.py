"""Every file of the corpus gets its answer, and nothing of its metadata comes out again."""

import io
import resource

import pytest
from PIL import Image

from accounts import images
from accounts.exceptions import ApiError
from tests.images import corpus

pytestmark = pytest.mark.once


@pytest.mark.parametrize("name", corpus.CORPUS)
def test_each_file_gets_its_answer(name):
    make, answer = corpus.CORPUS[name]
    data = make()
    if answer == corpus.OK:
        picture = images.picture(data)
        for content in (picture.content, picture.thumbnail):
            assert corpus.SECRET not in content
            with Image.open(io.BytesIO(content)) as result:
                result.load()
                assert not result.getexif()
                assert not {"comment", "icc_profile", "exif", "xmp", "XML:com.adobe.xmp"} & set(result.info)
        assert len(picture.blurhash) > 6
        assert images.avatar(data).width == images.AVATAR_SIDE
    else:
        with pytest.raises(ApiError) as refused:
            images.picture(data)
        assert refused.value.default_code == answer


def test_the_camera_s_orientation_is_applied():
    picture = images.picture(corpus.with_gps())
    assert (picture.width, picture.height) == (40, 60)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_animation_is_kept(kind):
    picture = images.picture(corpus.animated(kind, frames=5))
    with Image.open(io.BytesIO(picture.content)) as result:
        assert result.format == kind
        assert result.n_frames == 5
        result.load()
        assert result.info.get("duration") == 120


def test_alpha_is_kept():
    clear = Image.new("RGBA", (10, 10), (10, 20, 30, 0))
    for kind in ("PNG", "WEBP"):
        with Image.open(io.BytesIO(images.picture(corpus.encoded(clear, kind)).content)) as result:
            assert result.convert("RGBA").getpixel((5, 5))[3] == 0


def test_a_thumbnail_has_no_side_over_480():
    picture = images.picture(corpus.encoded(Image.new("RGB", (1600, 900)), "PNG"))
    with Image.open(io.BytesIO(picture.thumbnail)) as thumbnail:
        assert thumbnail.size == (480, 270)
    assert (picture.width, picture.height) == (1600, 900)


def test_bombs_take_no_memory():
    """Peak memory of this process may not grow by what the bombs promise (2.5 GB and more)."""
    data = [make() for name, (make, answer) in corpus.CORPUS.items() if answer == corpus.BROKEN and "bomb" in name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for bomb in data:
        with pytest.raises(ApiError):
            images.picture(bomb)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 200 * 1024


def test_a_path_is_signed_for_one_picture_and_one_size(settings):
    path = images.media_path("abc")
    token, _, query = path.removeprefix("/api/v1/media/").partition("?")
    parameters = dict(pair.split("=") for pair in query.split("&"))
    valid = {"expires": parameters["e"], "signature": parameters["s"]}
    assert token == "abc"
    assert images.signature_is_valid("abc", thumb=False, **valid)
    assert not images.signature_is_valid("abd", thumb=False, **valid)
    assert not images.signature_is_valid("abc", thumb=True, **valid)
    later = {"expires": str(int(parameters["e"]) + 1), "signature": parameters["s"]}
    assert not images.signature_is_valid("abc", thumb=False, **later)
    for odd in ("", "x", "-1", "1e9", "٣", "9" * 40):
        assert not images.signature_is_valid("abc", thumb=False, expires=odd, signature=parameters["s"])
