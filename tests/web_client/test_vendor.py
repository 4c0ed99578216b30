"""The libraries of the client are the files of their packages."""

import hashlib
import json
from pathlib import Path

import pytest
from django.conf import settings

from devtools.emoji_names import offered

pytestmark = pytest.mark.once

VENDOR = Path(settings.BASE_DIR) / "static" / "vendor"


def test_each_library_is_the_file_that_was_taken_over():
    lines = (VENDOR / "SHA256SUMS").read_text().splitlines()
    checksums = {name: checksum for checksum, name in (line.split() for line in lines)}
    present = {path.name for path in VENDOR.iterdir()} - {"SHA256SUMS", "README.md"}
    assert present == set(checksums)
    for name, checksum in checksums.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == checksum, name
    assert {"LICENSE-preact.txt", "LICENSE-htm.txt", "LICENSE-cldr.txt"} <= present


def test_every_emoji_of_the_picker_has_words_in_every_language():
    assert len(offered()) > 200
    for code, _ in settings.LANGUAGES:
        names = json.loads((VENDOR / f"emoji-{code}.json").read_text(encoding="utf-8"))
        assert list(names) == offered(), code
        assert all(names.values()), code
