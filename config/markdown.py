"""Our own documents as HTML: the part of Markdown that they use, and nothing that a reader could smuggle in.

Known: headings, paragraphs, fenced code, lists (one level), tables, `code`, **bold**, *emphasis* and links.
Everything is escaped first, so a document cannot carry HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<bold>.+?)\*\*|(?<![\w*])\*(?P<emphasis>[^*\s][^*]*)\*(?![\w*])|"
    r"\[(?P<text>[^\]]+)\]\((?P<target>[^)\s]+)\)"
)
_LINK = re.compile(r"(?:https?://|/|#|[\w./-]+(?:#|$))[^\"<>]*")
_HEADING = re.compile(r"(#{1,4}) (.+)")
_ITEM = re.compile(r"(?:([-*])|\d+\.) (.+)")
_TABLE_RULE = re.compile(r"\|[\s:|-]+\|")


def section(text: str, heading: str) -> str:
    """The part of a document under `## heading`, without the heading, up to the next one of that level.

    Raises:
        LookupError: the document has no such heading.
    """
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if name.strip() == heading:
            return body.strip() + "\n"
    raise LookupError(heading)


def render(text: str) -> SafeString:
    return mark_safe("\n".join(_blocks(text.splitlines())))


def _blocks(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("```")), len(lines))
            yield f"<pre><code>{escape(chr(10).join(lines[at + 1 : end]))}\n</code></pre>"
            at = end + 1
        elif heading := _HEADING.fullmatch(line):
            level, title = len(heading[1]), heading[2]
            yield f'<h{level} id="{slugify(title)}">{inline(title)}</h{level}>'
            at += 1
        elif line.startswith("|"):
            end = _end(lines, at, lambda other: other.startswith("|"))
            yield _table(lines[at:end])
            at = end
        elif _ITEM.fullmatch(line):
            end = _end(lines, at, lambda other: bool(_ITEM.fullmatch(other)) or other.startswith("  "))
            yield _list(lines[at:end])
            at = end
        elif not line.strip():
            at += 1
        else:
            end = _end(lines, at, lambda other: bool(other.strip()) and not _starts_block(other))
            yield f"<p>{inline(' '.join(part.strip() for part in lines[at:end]))}</p>"
            at = end


def _starts_block(line: str) -> bool:
    return line.startswith(("```", "|")) or bool(_HEADING.fullmatch(line) or _ITEM.fullmatch(line))


def _end(lines: list[str], start: int, belongs: Callable[[str], bool]) -> int:
    """Index of the first line after `start` that does not belong to its block."""
    return next((i for i in range(start + 1, len(lines)) if not belongs(lines[i])), len(lines))


def _list(lines: list[str]) -> str:
    items: list[str] = []
    for line in lines:
        if found := _ITEM.fullmatch(line):
            items.append(found[2])
        else:
            items[-1] += " " + line.strip()
    tag = "ul" if lines[0][0] in "-*" else "ol"
    return f"<{tag}>" + "".join(f"<li>{inline(item)}</li>" for item in items) + f"</{tag}>"


def _table(lines: list[str]) -> str:
    rows = [_cells(line) for line in lines if not _TABLE_RULE.fullmatch(line.strip())]
    head = "".join(f'<th scope="col">{inline(cell)}</th>' for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{inline(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:])
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    # Regions of a page are told apart by their names.
    words = [*rows[0], *(rows[1][:1] if rows[1:] else ())]
    name = escape("Table: " + ", ".join(word.replace("`", "") for word in words if word))
    return f'<div class="scroll" role="region" aria-label="{name}" tabindex="0">{table}</div>'


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def inline(text: str) -> SafeString:
    """One line of text with its code, emphasis and links."""
    pieces: list[str] = []
    at = 0
    for found in _INLINE.finditer(text):
        pieces.append(escape(text[at : found.start()]))
        at = found.end()
        if found["code"] is not None:
            pieces.append(f"<code>{escape(found['code'])}</code>")
        elif found["bold"] is not None:
            pieces.append(f"<strong>{inline(found['bold'])}</strong>")
        elif found["emphasis"] is not None:
            pieces.append(f"<em>{inline(found['emphasis'])}</em>")
        elif _LINK.fullmatch(found["target"]):
            pieces.append(f'<a href="{escape(found["target"])}">{inline(found["text"])}</a>')
        else:
            pieces.append(escape(found[0]))
    return mark_safe("".join([*pieces, escape(text[at:])]))
