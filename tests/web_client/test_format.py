"""What people type around words to format them, in the messages of the web client."""

import json
import subprocess

import pytest
from django.conf import settings

from tests.node import NODE, needs_node

pytestmark = [pytest.mark.once, needs_node]
FORMAT = settings.BASE_DIR / "static" / "app" / "chat" / "format.js"
SCRIPT = f"""
const {{ formatted }} = await import({json.dumps(FORMAT.as_uri())});
const shown = (part) => (typeof part === "string" ? part : `[${{part.tag}}:${{part.children.map(shown).join("")}}]`);
const texts = JSON.parse(await new Promise((resolve) => {{
  let input = "";
  process.stdin.on("data", (chunk) => {{ input += chunk; }}).on("end", () => resolve(input));
}}));
process.stdout.write(JSON.stringify(texts.map((text) => formatted(text).map(shown).join(""))));
"""
# A text, and how it is drawn; a part with a tag in brackets.
TEXTS = {
    "plain": "plain",
    "*bold* and **bold**": "[strong:bold] and [strong:bold]",
    "_slanted_ and __slanted__": "[em:slanted] and [em:slanted]",
    "~out~ and ~~out~~": "[s:out] and [s:out]",
    "(*a*), “_b_”!": "([strong:a]), “[em:b]”!",
    "*several words, and a mark.*": "[strong:several words, and a mark.]",
    "_*both*_": "[em:[strong:both]]",
    "**a *b* c**": "[strong:a [strong:b] c]",
    "**🎉 да**": "[strong:🎉 да]",
    "*مرحبا* بك": "[strong:مرحبا] بك",
    # What is not meant to format stays as it was typed.
    "2*3*4": "2*3*4",
    "snake_case_name": "snake_case_name",
    "* item\n* other": "* item\n* other",
    "*one\ntwo*": "*one\ntwo*",
    "*open": "*open",
    "** spaced **": "** spaced **",
    "*a*b": "*a*b",
    "***": "***",
    "***x***": "***x***",
    "~/folder and ~/other": "~/folder and ~/other",
    # Code is drawn as it is.
    "run `a*b*c` *now*": "run [code:a*b*c] [strong:now]",
    "an ` alone": "an ` alone",
    "```\nx = *y*\n```\nso": "[pre:x = *y*]so",
    "```python\nx = 1\n\ny = 2\n```": "[pre:x = 1\n\ny = 2]",
    "before ```x``` after": "before [pre:x] after",
    "```open": "```open",
    # A link stays whole.
    "https://example.com/_x_ _y_": "[a:https://example.com/_x_] [em:y]",
    "*see https://example.com/a_b now*": "[strong:see [a:https://example.com/a_b] now]",
    "`https://example.com`": "[code:https://example.com]",
    # The character that stands for a part while the text is read.
    "\ufffc *a\ufffcb* `c`": "\ufffc [strong:a\ufffcb] [code:c]",
    # Nothing is nested without end.
    "_a *b ~c __d **e** d__ c~ b* a_": "[em:a [strong:b [s:c __d **e** d__ c] b] a]",
    "<b>*x*</b>": "<b>[strong:x]</b>",
}


def formatted(texts):
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", SCRIPT], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_each_text_is_drawn_as_it_is_meant():
    assert dict(zip(TEXTS, formatted(list(TEXTS)), strict=True)) == TEXTS
