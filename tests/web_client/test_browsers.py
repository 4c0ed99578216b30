"""What the sources of the pages may use: storage in one place, and no function that the oldest browsers lack."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("static/app", "static/sdk", "static/pages", "accounts/static")
STORAGE = "static/sdk/parley/storage.js"
OLDER = "static/app/older.js"
NOT_STORAGE = re.compile(r'browserStorage\("\w+"\)')
USES_STORAGE = re.compile(r"\b(?:localStorage|sessionStorage|indexedDB)\b|document\.cookie")
# Newer than the browsers of docs/guides/browsers.md, and not brought by older.js.
TOO_NEW = {
    "methods of sets": r"\.(?:isSubsetOf|isSupersetOf|isDisjointFrom|symmetricDifference)\(",
    "Array.fromAsync": r"Array\.fromAsync",
    "Promise.try": r"Promise\.try\b",
    "RegExp.escape": r"RegExp\.escape",
    "the flag v": r"/[dgimsuy]*v[dgimsuy]*\.(?:test|exec)\(",
    "well-formed strings": r"\.(?:isWellFormed|toWellFormed)\(",
    "import attributes": r"""from ["'][^"']+["'] with \{""",
    "modifiers": r"\(\?[ims]+(?:-[ims]+)?:",
    "moveBefore": r"\.moveBefore\(",
    "scheduler": r"\bscheduler\.",
    "bytes and base64": r"\.(?:toBase64|fromBase64|toHex|fromHex)\(",
    "Temporal": r"\bTemporal\.",
    "Intl.DurationFormat": r"Intl\.DurationFormat",
    "using": r"^\s*(?:await )?using ",
    "view transitions": r"\.startViewTransition\(",
    "blob.bytes": r"\.bytes\(\)",
}
TOO_NEW_CSS = {
    "light-dark": r"light-dark\(",
    "nesting": r"^\s*&",
    "@starting-style": r"@starting-style",
    "@scope": r"@scope",
    "anchors": r"anchor-name|position-anchor|anchor\(",
    "relative colours": r"\((?:from) var\(",
    "interpolate-size": r"interpolate-size|calc-size\(",
    "if()": r":\s*if\(",
}


def scripts():
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.js")]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@pytest.mark.once
def test_storage_is_used_in_one_place():
    found = {name for name, text in scripts().items() if USES_STORAGE.search(NOT_STORAGE.sub("", text))}
    # Names it as the choice of `browserStorage`.
    assert found == {STORAGE}


@pytest.mark.once
def test_scripts_use_nothing_that_the_oldest_browsers_lack():
    texts = {name: text for name, text in scripts().items() if name != OLDER}
    assert len(texts) > 100
    found = [
        (name, kind) for name, text in texts.items() for kind, use in TOO_NEW.items() if re.search(use, text, re.M)
    ]
    assert found == []


@pytest.mark.once
def test_the_sdk_needs_nothing_of_older():
    brought = set(re.findall(r'define\(([\w.]+), "(\w+)"', (ROOT / OLDER).read_text(encoding="utf-8")))
    static = {f"{owner}.{name}" for owner, name in brought if "prototype" not in owner and owner != "globalThis"}
    methods = {name for owner, name in brought if "prototype" in owner}
    assert {"AbortSignal.any", "URL.canParse"} <= static and {"at", "toSorted"} <= methods
    use = re.compile("|".join([*map(re.escape, static), rf"\.(?:{'|'.join(methods)})\("]))
    guarded = re.compile(r"if \(AbortSignal\.timeout\) return AbortSignal\.timeout\(ms\);")
    found = {
        name
        for name, text in scripts().items()
        if name.startswith("static/sdk") and use.search(code_of(guarded.sub("", text)))
    }
    assert found == set()


@pytest.mark.once
def test_style_sheets_use_nothing_that_the_oldest_browsers_lack():
    sheets = [
        path for folder in ("static", "accounts/static", "core/static") for path in (ROOT / folder).rglob("*.css")
    ]
    assert len(sheets) > 8
    texts = {path.name: re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S) for path in sheets}
    found = [
        (name, kind) for name, text in texts.items() for kind, use in TOO_NEW_CSS.items() if re.search(use, text, re.M)
    ]
    assert found == []


def code_of(text):
    """Without comments."""
    return re.sub(r"/\*.*?\*/|^\s*//.*$", "", text, flags=re.S | re.M)
