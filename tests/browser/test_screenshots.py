"""The pictures of the pages: written in every size, both colours and both directions of writing."""

import re

import pytest
from django.conf import settings
from PIL import Image

from tests.browser.chromium import needs_chromium
from tests.browser.screenshots import (
    LANDING_FOLDER,
    LANDING_SCALE,
    LANDING_SIZE,
    LANGUAGES,
    PAGES,
    README_FOLDER,
    README_PICTURES,
    SCHEMES,
    SECTIONS,
    SIZES,
    WORDS,
    take_all,
)
from tests.server import ROOT

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


def test_every_page_of_the_client_is_pictured():
    routes = re.findall(r'path: (?:"([^"]+)"|(\w+))', (ROOT / "static/app/routes.js").read_text())
    names = dict(re.findall(r'const (\w+) = "(/app/[^"]+)"', (ROOT / "static/app/addresses.js").read_text()))
    patterns = {path or names[name] for path, name in routes}
    # The first leads to the landing page, the other to a conversation.
    patterns -= {"/app", "/app/people/:person"}
    pictured = [path.partition("?")[0] for path in PAGES.values()]
    missing = [
        pattern
        for pattern in patterns
        if not any(re.fullmatch(re.sub(r":\w+", "[^/]+", pattern), path) for path in pictured)
    ]
    assert len(patterns) > 12
    assert missing == []
    sections = re.findall(r'^  \["(\w+)", \(\) =>', (ROOT / "static/app/pages/settings/page.js").read_text(), re.M)
    assert sections == list(SECTIONS)


def test_the_pictures_of_the_readme_are_there_and_small():
    readme = (README_FOLDER.parents[1] / "README.md").read_text()
    for name in README_PICTURES:
        path = README_FOLDER / f"{name}.png"
        assert f"docs/images/{path.name}" in readme
        assert path.stat().st_size <= 150_000


def test_the_landing_page_has_a_small_picture_in_each_language():
    languages = [code for code, _name in settings.LANGUAGES]
    assert sorted(WORDS) == sorted(languages)
    wanted = {f"landing-{code}-{scheme}.webp" for code in languages for scheme in SCHEMES}
    assert {path.name for path in LANDING_FOLDER.iterdir()} == wanted
    for path in LANDING_FOLDER.iterdir():
        assert path.stat().st_size <= 60_000
        assert Image.open(path).size == tuple(LANDING_SCALE * side for side in LANDING_SIZE.values())
