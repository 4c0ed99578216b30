"""The pictures of the pages: written in every size, both colours and both directions of writing."""

import pytest
from PIL import Image

from tests.browser.chromium import needs_chromium
from tests.browser.screenshots import LANGUAGES, README_FOLDER, README_PICTURES, SCHEMES, SIZES, take_all

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(300)]


def test_a_page_is_pictured_in_every_variant(tmp_path, chromium):
    written = take_all(chromium, tmp_path, only="conversation")
    assert len(written) == len(SIZES) * len(SCHEMES) * len(LANGUAGES)
    shown = {path.stem: Image.open(path).convert("RGB") for path in written}
    assert all(picture.size == tuple(SIZES[name.split("-")[1]].values()) for name, picture in shown.items())
    # Dark is dark, and Arabic stands on the other side.
    corner = {name: sum(picture.getpixel((2, 2))) for name, picture in shown.items()}
    assert corner["conversation-desktop-dark-en"] < 200 < 500 < corner["conversation-desktop-light-en"]
    assert shown["conversation-desktop-light-en"].tobytes() != shown["conversation-desktop-light-ar"].tobytes()


def test_the_pictures_of_the_readme_are_there_and_small():
    readme = (README_FOLDER.parents[1] / "README.md").read_text()
    for name in README_PICTURES:
        path = README_FOLDER / f"{name}.png"
        assert f"docs/images/{path.name}" in readme
        assert path.stat().st_size <= 150_000
