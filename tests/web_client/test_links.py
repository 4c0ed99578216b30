"""Links in messages: where they begin and end in the texts of all languages, and that they show where they lead."""

import json
import subprocess

import pytest
from django.conf import settings

from tests.node import NODE, needs_node

pytestmark = [pytest.mark.once, needs_node]
LINKS = settings.BASE_DIR / "static" / "app" / "chat" / "links.js"
# URL.canParse is missing in older browsers.
SCRIPT = f"""
delete URL.canParse;
const {{ parts }} = await import({json.dumps(LINKS.as_uri())});
const texts = JSON.parse(await new Promise((resolve) => {{
  let input = "";
  process.stdin.on("data", (chunk) => {{ input += chunk; }}).on("end", () => resolve(input));
}}));
process.stdout.write(JSON.stringify(texts.map((text) => parts(text).map((part) =>
  (part.href ? {{ ...part, host: new URL(part.href).host, protocol: new URL(part.href).protocol }} : part)))));
"""

# The links of a text, as they are drawn.
ENDS = {
    # Chinese, Japanese, Korean: marks without a space behind the address.
    "看https://example.com/a。好的": "https://example.com/a",
    "（https://example.com/b）": "https://example.com/b",
    "请看https://example.com/c，谢谢": "https://example.com/c",
    "https://example.com/d、https://example.com/e": ["https://example.com/d", "https://example.com/e"],
    "「https://example.com/f」": "https://example.com/f",
    "『https://example.com/g』です": "https://example.com/g",
    "【https://example.com/h】": "https://example.com/h",
    "《https://example.com/i》": "https://example.com/i",
    "〈https://example.com/j〉": "https://example.com/j",
    "〔https://example.com/k〕": "https://example.com/k",
    "https://example.com/l！": "https://example.com/l",
    "https://example.com/m？是的": "https://example.com/m",
    "https://example.com/n：在这里": "https://example.com/n",
    "https://example.com/o；然后": "https://example.com/o",
    "https://example.com/p……": "https://example.com/p",
    "https://example.com/q～": "https://example.com/q",
    "https://example.com/r　全角": "https://example.com/r",
    "https://example.com/s｡": "https://example.com/s",
    "｢https://example.com/t｣": "https://example.com/t",
    "＜https://example.com/u＞": "https://example.com/u",
    "https://example.com很好": "https://example.com",
    "https://example.com:8080看": "https://example.com:8080",
    "www.example.com。": "www.example.com",
    # Marks of other scripts.
    "https://example.com/a، ثم": "https://example.com/a",
    "https://example.com/b؟": "https://example.com/b",
    "https://example.com/c؛": "https://example.com/c",
    "https://example.com/d۔": "https://example.com/d",
    "https://example.com/e।": "https://example.com/e",
    "https://example.com/f։": "https://example.com/f",
    "https://example.com/g።": "https://example.com/g",
    "https://example.com/h។": "https://example.com/h",
    # Quotes of all languages.
    **{
        f"{opened}https://example.com/{number}{closed}": f"https://example.com/{number}"
        for number, (opened, closed) in enumerate(
            ["“”", "„“", "„”", "‚‘", "‘’", "«»", "»«", "‹›", "›‹", '""', "''", "””", "’’", "〝〟", "「」", "``", "❝❞"]
        )
    },
    # Brackets, balanced or not.
    "https://ja.wikipedia.org/wiki/サクラ_(曖昧さ回避)": "https://ja.wikipedia.org/wiki/サクラ_(曖昧さ回避)",
    "(https://en.wikipedia.org/wiki/Mercury_(planet))": "https://en.wikipedia.org/wiki/Mercury_(planet)",
    "(see https://example.com/a)": "https://example.com/a",
    "(https://example.com/b).": "https://example.com/b",
    "[text](https://example.com/c)": "https://example.com/c",
    "[https://example.com/d]": "https://example.com/d",
    "{https://example.com/e}": "https://example.com/e",
    "https://example.com/f[1]": "https://example.com/f[1]",
    "https://example.com/g?filter[a]=(b)": "https://example.com/g?filter[a]=(b)",
    "<https://example.com/h>": "https://example.com/h",
    "<a href=https://example.com/i>": "https://example.com/i",
    "http://[::1]:8000/j": "http://[::1]:8000/j",
    # Marks at the end, and marks that belong to the address.
    **{
        f"https://example.com/a{mark}": "https://example.com/a"
        for mark in (*".,;:!?'", "...", "?!", ".)", '."', "…", "”.")
    },
    "*https://example.com/b*": "https://example.com/b",
    "_https://example.com/c_": "https://example.com/c",
    "~https://example.com/d~": "https://example.com/d",
    "|https://example.com/e|": "https://example.com/e",
    "https://example.com/f/": "https://example.com/f/",
    "https://example.com/g?q=a,b;c:d!e#f.g": "https://example.com/g?q=a,b;c:d!e#f.g",
    "https://example.com/h👍🏽": "https://example.com/h",
    "https://example.com/👍": "https://example.com/👍",
    "https://example.com/i→https://example.com/j": ["https://example.com/i", "https://example.com/j"],
    "https://example.com/k,https://example.com/l": ["https://example.com/k", "https://example.com/l"],
    "https://example.com,https://example.org": ["https://example.com", "https://example.org"],
    "https://fr.wikipedia.org/wiki/L’Étranger": "https://fr.wikipedia.org/wiki/L’Étranger",
    "https://en.wikipedia.org/wiki/Mason–Dixon_line": "https://en.wikipedia.org/wiki/Mason–Dixon_line",
    "https://ja.wikipedia.org/wiki/レオナルド・ダ・ヴィンチ": "https://ja.wikipedia.org/wiki/レオナルド・ダ・ヴィンチ",
    "https://ru.wikipedia.org/wiki/Москва": "https://ru.wikipedia.org/wiki/Москва",
    # Without a scheme; and what is not a link.
    "www.example.com/m, and": "www.example.com/m",
    "WWW.Example.COM/N": "www.example.com/N",
    "HTTPS://Example.COM/O": "https://example.com/O",
    "www. example": [],
    "www.example": [],
    "ann@www.example.com": [],
    "xhttps://example.com": [],
    "https://": [],
    "https://...": [],
    "ftp://example.com, javascript:alert(1)": [],
    "https:///example.com": [],
}
# No name of a user in front of the host: it looks like a host.
USERS = [
    "https://bank.example@evil.example/",
    "https://bank.example:443@evil.example/",
    "https://user:password@evil.example/",
    "https://@evil.example/",
    "https://www.bank.example@www.evil.example/",
    "https://bank.example\u200b@evil.example/",
    "www.bank.example@evil.example",
]
# What is drawn first is the host, whatever the text does to hide it.
HIDDEN = {
    "https://exam\u200bple.com/": "https://example.com/",
    "https://exam\u00adple.com/": "https://example.com/",
    "https://exam\u2060ple\ufeff.com/": "https://example.com/",
    "https://exam\u034f\u115f\u3164ple.com/": "https://example.com/",
    "https://example.com/\u202egpj.exe": "https://example.com/gpj.exe",
    "\u202ehttps://example.com/a": "https://example.com/a",
    "https://example.com/\u2066\u2067\u2068\u2069\u202a\u202b\u202c\u202d\u200e\u200f\u061cb": "https://example.com/b",
    "\u2068https://example.com/c\u2069": "https://example.com/c",
    "https://\u0430pple.com/": "https://xn--pple-43d.com/",
    "https://examp\u217ce.com/": "https://example.com/",
    "https://\uff45xample.com/": "https://example.com/",
    "https://ex\u00e4mple.com": "https://xn--exmple-cua.com",
    "https://\u4f8b\u3048.jp/\u30d1\u30b9": "https://xn--r8jz45g.jp/\u30d1\u30b9",
    "www.\u0430pple.com": "www.xn--pple-43d.com",
    "https://example.com\uff20evil.example": "https://example.com",
    "https://example.com\uff0eevil.example": "https://example.com",
    "https://example.com\u3002evil.example": "https://example.com",
    "https://example.com\uff0fevil.example": "https://example.com",
    "https://example.com\\@evil.example": "https://example.com",
    "https://example.com\u2215a.evil.example/": "https://example.xn--coma-id9a.evil.example/",
    "https://example.com\u2044a.evil.example/": "https://example.xn--coma-2g7a.evil.example/",
    "https://0x7f.1/": "https://127.0.0.1/",
    "https://ex%61mple.com/": "https://example.com/",
    "https://example.com:443/": "https://example.com/",
}


@pytest.fixture(scope="module")
def links():
    texts = [*ENDS, *USERS, *HIDDEN]
    command = [NODE, "--input-type=module", "-e", SCRIPT]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    return dict(zip(texts, json.loads(done.stdout), strict=True))


def drawn(parts):
    return [part["text"] for part in parts if "href" in part]


@pytest.mark.parametrize("text", ENDS)
def test_a_link_ends_where_the_sentence_goes_on(links, text):
    expected = ENDS[text]
    assert drawn(links[text]) == ([expected] if isinstance(expected, str) else expected)


@pytest.mark.parametrize("text", USERS)
def test_an_address_with_a_user_is_not_a_link(links, text):
    assert links[text] == [{"text": text}]


@pytest.mark.parametrize("text", HIDDEN)
def test_nothing_hides_where_a_link_leads(links, text):
    assert drawn(links[text]) == [HIDDEN[text]]


def test_every_link_begins_with_the_host_that_it_leads_to(links):
    found = [part for parts in links.values() for part in parts if "href" in part]
    assert len(found) > 100
    for part in found:
        host, scheme = part["host"], f"{part['protocol']}//"
        assert part["protocol"] in {"http:", "https:"}
        rest = part["text"].removeprefix(scheme).removeprefix(host)
        assert part["text"] in {scheme + host + rest, host + rest}
        assert rest[:1] in {"", "/", "?", "#"}


def test_an_address_keeps_the_joiners_of_a_word_and_does_not_draw_them():
    text = "https://fa.wikipedia.org/wiki/\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    command = [NODE, "--input-type=module", "-e", SCRIPT]
    done = subprocess.run(command, input=json.dumps([text]), capture_output=True, text=True, check=True)
    [[part]] = json.loads(done.stdout)
    assert "%E2%80%8C" in part["href"]
    assert "\u200c" not in part["text"]
