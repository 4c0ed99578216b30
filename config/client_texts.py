"""The texts of the web client: `t("…")` and `tn("…", "…", n)` in its JavaScript, found with Babel's lexer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from babel.messages.jslexer import Token, tokenize, unquote_string

# Name of the function: how many of its first arguments are texts.
FUNCTIONS = {"t": 1, "tn": 2}
# A slash after one of these begins a regular expression, after anything else it divides.
BEFORE_REGEX = frozenset("(,=:[!&|?{};+-*%~^<>")
REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
PLAIN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)


def texts(source: str) -> Iterator[tuple[int, str | tuple[str, ...]]]:
    """(line, text) of each call; for plural forms the text is a pair. ValueError when a call holds no plain text."""
    tokens = [
        token
        for token in tokenize(code_of(source), jsx=False, template_string=False)
        if token.type not in {"linecomment", "multilinecomment"}
    ]
    for position, token in enumerate(tokens):
        called = token.type == "name" and token.value in FUNCTIONS and _value(tokens, position + 1) == "("
        if not called or _value(tokens, position - 1) in {"function", "."}:
            continue
        arguments = list(_strings(tokens, position + 2))[: FUNCTIONS[token.value]]
        if len(arguments) != FUNCTIONS[token.value]:
            raise ValueError(f"line {token.lineno}: {token.value}() wants its texts as plain strings")
        yield token.lineno, arguments[0] if len(arguments) == 1 else tuple(arguments)


def _value(tokens: list[Token], position: int) -> str:
    return tokens[position].value if 0 <= position < len(tokens) else ""


def _strings(tokens: list[Token], position: int) -> Iterator[str]:
    """The leading arguments that are plain strings; `"a" + "b"` is one."""
    while position < len(tokens) and tokens[position].type == "string":
        text = unquote_string(tokens[position].value)
        while _value(tokens, position + 1) == "+" and tokens[position + 2].type == "string":
            text += unquote_string(tokens[position + 2].value)
            position += 2
        if _value(tokens, position + 1) not in {",", ")"}:
            return
        yield text
        if _value(tokens, position + 1) == ")":
            return
        position += 2


def code_of(source: str) -> str:
    """The source without the text of its template literals; the code in `${…}` stays.

    Babel's lexer ends a template at the next backtick, but htm nests templates.
    """
    output: list[str] = []
    # Depth of open braces in each piece of code, from the file down to the innermost `${`.
    depths = [0]
    in_template = False
    position, last = 0, ""
    while position < len(source):
        char = source[position]
        if in_template:
            if source.startswith("${", position):
                depths.append(0)
                in_template, last = False, "{"
                position += 2
            elif char == "`":
                in_template, last = False, "`"
                position += 1
            else:
                length = 2 if char == "\\" else 1
                output.append("\n" if char == "\n" else " ")
                position += length
            continue
        if char == "`":
            in_template = True
            output.append(" ")
        elif plain := PLAIN.match(source, position):
            output.append(plain.group())
            position = plain.end()
            last = last if char == "/" else char
            continue
        elif char == "/" and last in BEFORE_REGEX | {""} and (regex := REGEX.match(source, position)):
            output.append("0")
            position, last = regex.end(), "0"
            continue
        elif char == "}" and depths[-1] == 0 and len(depths) > 1:
            depths.pop()
            in_template = True
            output.append(" ")
        else:
            depths[-1] += {"{": 1, "}": -1}.get(char, 0)
            output.append(char)
        last = last if char.isspace() else char
        position += 1
    return "".join(output)
