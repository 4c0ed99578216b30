"""The documents of docs/ as HTML: CommonMark with tables, without raw HTML.

Added to what markdown-it-py does: every heading can be linked to, tables scroll on their own, and
neighbouring code blocks in several languages become one set of tabs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# The languages whose blocks become tabs when they follow each other, with the label of the tab.
TABS = {"bash": "curl", "js": "JavaScript", "python": "Python"}


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    anchor: str
    title: str


@dataclass(frozen=True, slots=True)
class Document:
    html: SafeString
    headings: list[Heading]


def section(text: str, heading: str) -> str:
    """The part of a document below `## heading`, up to the next heading of that level."""
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if name.strip() == heading:
            return body.strip() + "\n"
    raise LookupError(heading)


def _parser() -> MarkdownIt:
    # Not every worker renders a page.
    from markdown_it import MarkdownIt

    # "js-default" escapes raw HTML and refuses javascript: links.
    parser = MarkdownIt("js-default", {"html": False, "linkify": False, "typographer": False})
    parser.add_render_rule("fence", lambda _, tokens, at, *__: code_block(tokens[at].content, tokens[at].info))
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    parser.add_render_rule("heading_close", _heading_close)
    parser.add_render_rule("th_open", _header_cell)
    return parser


def render(text: str) -> SafeString:
    return document(text).html


def document(text: str) -> Document:
    """The document as HTML, and its headings of the second and third level."""
    parser = _parser()
    tokens = parser.parse(text)
    headings = _name_headings(tokens)
    _group_tabs(tokens)
    html = parser.renderer.render(tokens, parser.options, {})
    return Document(mark_safe(html), [heading for heading in headings if heading.level in (2, 3)])


@cache
def inline(text: str) -> SafeString:
    """One line of text with its code, emphasis and links. Cached: building a parser takes longer than the text."""
    return mark_safe(_parser().renderInline(text))


def code_block(code: str, language: str) -> SafeString:
    """A block of code as every page shows it; a script adds colours and the copy button."""
    attribute = f' class="language-{escape(language)}"' if language else ""
    return mark_safe(f"<pre><code{attribute}>{escape(code)}</code></pre>\n")


def _plain(inline_token: Token) -> str:
    return "".join(child.content for child in inline_token.children or [])


def _name_headings(tokens: Sequence[Token]) -> list[Heading]:
    headings: list[Heading] = []
    for opening, inner in pairwise(tokens):
        if opening.type == "heading_open":
            title = _plain(inner)
            anchor = slugify(title)
            while any(heading.anchor == anchor for heading in headings):
                anchor += "-2"
            opening.attrSet("id", anchor)
            headings.append(Heading(int(opening.tag[1]), anchor, title))
    return headings


def _group_tabs(tokens: list[Token]) -> None:
    for at, first in enumerate(tokens):
        if first.type != "fence":
            continue
        blocks: dict[str, str] = {}
        for token in takewhile(lambda token: token.type == "fence" and token.info in TABS, tokens[at:]):
            if token.info in blocks:
                break
            blocks[token.info] = token.content
        if len(blocks) > 1:
            first.type, first.content = "html_block", tabs(list(blocks.items()))
            del tokens[at + 1 : at + len(blocks)]


def tabs(blocks: Sequence[tuple[str, str]]) -> SafeString:
    """(language, code) pairs as one set of tabs; without JavaScript, one block below the other."""
    rows = [f'<div class="tab" data-label="{TABS[name]}">{code_block(code, name)}</div>' for name, code in blocks]
    return mark_safe('<div class="tabs">' + "".join(rows) + "</div>\n")


def _table_open(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    # The accessible name: the heading cells and the first cell.
    start = takewhile(lambda token: token.type not in ("td_close", "table_close"), tokens[at:])
    cells = [_plain(token) for token in start if token.type == "inline"]
    name = escape("Table: " + ", ".join(filter(None, cells)))
    return f'<div class="scroll" role="region" aria-label="{name}" tabindex="0"><table>\n'


def _header_cell(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    if tokens[at + 1].content:
        return '<th scope="col">'
    # An empty header cell becomes a plain cell.
    tokens[at + 2].tag = "td"
    return "<td>"


def _heading_close(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    opening, tag = tokens[at - 2], tokens[at].tag
    if tag == "h1":
        return f"</{tag}>\n"
    name = escape(f"Link to {_plain(tokens[at - 1])}")
    return f'<a class="anchor" href="#{opening.attrGet("id")}" aria-label="{name}">#</a></{tag}>\n'
