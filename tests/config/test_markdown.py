"""Documents as HTML: what they use, and nothing that could carry a script."""

import pytest

from portal.docs import markdown

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# A title", '<h1 id="a-title">A title</h1>'),
        ("one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>"),
        ("- one\n- two\n  goes on", "<ul>\n<li>one</li>\n<li>two\ngoes on</li>\n</ul>"),
        ("1. one\n2. two", "<ol>\n<li>one</li>\n<li>two</li>\n</ol>"),
        ("```bash\na < b && c\n```", '<pre><code class="language-bash">a &lt; b &amp;&amp; c\n</code></pre>'),
        ("**bold `code`** *thin*", "<p><strong>bold <code>code</code></strong> <em>thin</em></p>"),
        ("[here](/docs/errors#not_found)", '<p><a href="/docs/errors#not_found">here</a></p>'),
        ("2 * 3 * 4", "<p>2 * 3 * 4</p>"),
    ],
)
def test_what_documents_use(text, html):
    assert markdown.render(text).strip() == html


def test_a_table():
    html = markdown.render("| A | B |\n|---|---|\n| `x` | y \\| z |")
    assert '<th scope="col">A</th>' in html
    assert "<td><code>x</code></td>\n<td>y | z</td>" in html


@pytest.mark.parametrize(
    "text", ["<script>x</script>", "[x](javascript:alert(1))", "`<b>`", '[x](/"onclick=")', "# <img>"]
)
def test_nothing_is_smuggled_in(text):
    html = markdown.render(text)
    assert "<script" not in html
    assert "javascript:" not in html or "<a" not in html
    assert "<b>" not in html
    assert "<img" not in html
    assert 'onclick="' not in html


def test_a_section():
    text = "# T\n\n## One\n\nfirst\n\n## Two\n\nsecond\n"
    assert markdown.section(text, "Two") == "second\n"
    with pytest.raises(LookupError):
        markdown.section(text, "Three")
