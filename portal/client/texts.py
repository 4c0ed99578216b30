"""The texts of the web client: `t("…")` and `tn("…", "…", n)` in its JavaScript.

Babel's own lexer ends a template literal at the next backtick, but htm nests templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from babel.messages.jslexer import unquote_string

# Name of the function → the number of its first arguments that are texts.
FUNCTIONS = {"t": 1, "tn": 2}
STRING = r""" "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' """
CODE = re.compile(rf"(?P<skipped> \s+ | //[^\n]* | /\*.*?\*/) | {STRING} | [\w$]+ | .", re.DOTALL | re.VERBOSE)
TEMPLATE = re.compile(r"(?P<skipped> (?:[^`\\$] | \\. | \$(?!\{))+) | ` | \$\{", re.DOTALL | re.VERBOSE)
# A slash at the beginning or after one of these begins a regular expression; any other one divides.
BEFORE_REGEX = frozenset("(,=:[!&|?{};+-*%~^<>") | {""}
REGEX = re.compile(r"/(?!\*)(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")


def texts(source: str) -> Iterator[tuple[int, str | tuple[str, ...]]]:
    """(line, text) of each call; for plural forms the text is a pair. ValueError when a call holds no plain text."""
    positions = list(_tokens(source))
    tokens = [token for _position, token in positions]
    for at, (position, name) in enumerate(positions):
        if name not in FUNCTIONS or tokens[at + 1 : at + 2] != ["("] or tokens[at - 1] in {"function", "."}:
            continue
        line = source.count("\n", 0, position) + 1
        arguments = tuple(_strings(iter(tokens[at + 2 :])))[: FUNCTIONS[name]]
        if len(arguments) != FUNCTIONS[name]:
            raise ValueError(f"line {line}: {name}() wants its texts as plain strings")
        yield line, arguments[0] if len(arguments) == 1 else arguments


def _strings(tokens: Iterator[str]) -> Iterator[str]:
    """The leading arguments that are plain strings; `"a" + "b"` is one."""
    text = ""
    for string, sign in zip(tokens, tokens, strict=False):
        if string[0] not in "\"'" or sign not in {"+", ",", ")"}:
            return
        text += unquote_string(string)
        if sign != "+":
            yield text
            text = ""
        if sign == ")":
            return


def _tokens(source: str) -> Iterator[tuple[int, str]]:
    """(position, token) of the code, without comments and without the text of template literals; `${…}` is code again."""
    opened: list[str] = []  # each open `{`, `${` and backtick
    position, last = 0, ""
    while position < len(source):
        in_template = opened[-1:] == ["`"]
        match = (TEMPLATE if in_template else CODE).match(source, position)
        if not in_template and last in BEFORE_REGEX:
            match = REGEX.match(source, position) or match
        assert match is not None
        position = match.end()
        if match.groupdict().get("skipped"):
            continue
        token = match.group()
        yield match.start(), token
        last = token[-1]
        if opened and (token == "}" or (in_template and token == "`")):
            opened.pop()
        elif token in {"{", "${", "`"}:
            opened.append(token)
