"""Writes what the web client searches emoji by, from CLDR's annotations: `python3 -m devtools.emoji_names FOLDER`.

FOLDER is the unpacked npm package cldr-annotations-full. One file for each language of the client, with the names of
the emoji that its picker offers (static/vendor/README.md).
"""

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICKER = ROOT / "static" / "app" / "chat" / "emoji.js"
VENDOR = ROOT / "static" / "vendor"
LANGUAGES = {"zh-hans": "zh", **{code: code for code in ("en", "ru", "es", "de", "fr", "pt", "tr", "uk", "ar")}}
STYLE = "\ufe0f"


def offered() -> list[str]:
    """The emoji of the picker, in its order."""
    lines = re.findall(r'"([^"]+)"', PICKER.read_text(encoding="utf-8").split("const QUICK")[1].split("];")[0])
    return list(dict.fromkeys(emoji for line in lines for emoji in line.split() if not emoji.isascii()))


def names(annotations: dict[str, dict[str, list[str]]], emoji: str) -> str:
    """The name, then the words that people use for it."""
    entry = annotations.get(emoji) or annotations[emoji.replace(STYLE, "")]
    return ", ".join(dict.fromkeys([*entry["tts"], *entry["default"]]))


def main(package: Path) -> None:
    shutil.copy(package / "LICENSE", VENDOR / "LICENSE-cldr.txt")
    for code, folder in LANGUAGES.items():
        content = json.loads((package / "annotations" / folder / "annotations.json").read_text(encoding="utf-8"))
        annotations = content["annotations"]["annotations"]
        table = {emoji: names(annotations, emoji) for emoji in offered()}
        text = json.dumps(table, ensure_ascii=False, indent=0)
        (VENDOR / f"emoji-{code}.json").write_text(f"{text}\n", encoding="utf-8")
    files = sorted(path for path in VENDOR.iterdir() if path.suffix in {".json", ".mjs", ".txt"})
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (VENDOR / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
