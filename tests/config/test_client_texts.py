"""The texts of the web client: found in its JavaScript, served as JSON, counted as gettext counts them."""

import gettext
import io
import json
import subprocess

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client

from portal.client import catalogs, texts, translations
from tests.node import needs_node

pytestmark = pytest.mark.once

LANGUAGES = [code for code, _name in settings.LANGUAGES if code != "en"]
NUMBERS = [*range(1100), 10_000, 100_000, 1_000_000, 1_000_001, 2_000_000]
I18N = settings.BASE_DIR / "static" / "app" / "lib" / "i18n.js"


def test_texts_are_found_wherever_they_stand():
    source = r"""
// t("a comment")
const pattern = /[`'"]/g, half = whole / 2; /* t("another") */
function t(text) {}
const page = html`<div class="it's" title=${t("Title")}>
  ${open && html`<b>${t("Outer {name}", {name: t("inner")})}</b> it's ${tn("{n} item", "{n} items", n)}`}
  ${rows.map((row) => ({key: 1, label: `x ${t('single \'quotes\'')}`}))}</div>`;
other.t("a method"); const long = t("in two " +
  "parts"); text.replace(/`/, "`"); t("End — ‘here’");
"""
    assert list(texts.texts(source)) == [
        (5, "Title"),
        (6, "Outer {name}"),
        (6, "inner"),
        (6, ("{n} item", "{n} items")),
        (7, "single 'quotes'"),
        (8, "in two parts"),
        (9, "End — ‘here’"),
    ]


@pytest.mark.parametrize("call", ["t(name)", "t(`text`)", 't("a" + b)', 'tn("one", many, n)'])
def test_a_text_that_cannot_be_collected_is_refused(call):
    with pytest.raises(ValueError, match="line 1"):
        list(texts.texts(f"const x = {call};"))


def test_the_check_tells_of_a_client_text_that_is_not_translated(monkeypatch):
    known = translations.collected_from_client

    def with_another():
        catalog = known()
        catalog.add("This is new in the client.")
        return catalog

    monkeypatch.setattr(translations, "collected_from_client", with_another)
    with pytest.raises(CommandError, match=r"client\.po: not translated: 'This is new in the client\.'"):
        call_command("translations", check=True)


@pytest.fixture
def one_text(monkeypatch, tmp_path):
    """A catalog with one text and one that is counted; returns the function that makes it."""

    def make(language):
        catalog = Catalog(translations.read(next_po(language)).locale, "client", charset="utf-8")
        forms = [f"{{n}} form {index}" for index in range(catalog.num_plurals)]
        catalog.add("Send", "Отправить")
        catalog.add(("{n} message", "{n} messages"), forms)
        path = tmp_path / f"{language}.mo"
        buffer = io.BytesIO()
        write_mo(buffer, catalog)
        path.write_bytes(buffer.getvalue())
        monkeypatch.setattr(catalogs, "catalog_path", lambda _language: path)
        catalogs._read.cache_clear()
        return path

    yield make
    catalogs._read.cache_clear()


def next_po(language):
    return next(path for path in translations.po_files() if path.parts[-3].lower().replace("_", "-") == language)


@needs_node
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_browser_takes_the_plural_form_that_gettext_takes(one_text, language):
    path = one_text(language)
    script = f"""
      import {{setCatalog, formIndex}} from {json.dumps(I18N.as_uri())};
      setCatalog({catalogs.catalog(language).content.decode()});
      console.log(JSON.stringify({json.dumps(NUMBERS)}.map(formIndex)));
    """
    command = ["node", "--input-type=module", "--no-warnings", "-e", script]
    chosen = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    with path.open("rb") as file:
        plural = gettext.GNUTranslations(file).plural
    assert chosen == [plural(number) for number in NUMBERS]


@needs_node
def test_texts_are_filled_in_and_counted(one_text):
    one_text("ru")
    script = f"""
      import {{setCatalog, t, tn, duration, supported}} from {json.dumps(I18N.as_uri())};
      const before = [t("Hello {{name}}, {{other}}", {{name: "Ann"}}), tn("{{n}} day", "{{n}} days", 1)];
      setCatalog({catalogs.catalog("ru").content.decode()});
      console.log(JSON.stringify([...before, t("Send"), t("Nothing"), tn("{{n}} message", "{{n}} messages", 1001),
        tn("{{n}} day", "{{n}} days", 3), duration(3723), ["pt-BR", "zh_CN", "xx", null].map(supported)]));
    """
    command = ["node", "--input-type=module", "--no-warnings", "-e", script]
    output = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    assert output == [
        "Hello Ann, {other}",
        "1 day",
        "Отправить",
        "Nothing",
        "1\u00a0001 form 0",
        "3 days",
        "1:02:03",
        ["pt", "zh-hans", None, None],
    ]


def test_a_catalog_is_served_so_that_browsers_keep_it(one_text):
    one_text("ru")
    address = catalogs.catalog_addresses()["ru"]
    first = Client().get(address)
    assert first.json() == {
        "language": "ru",
        "plural_locale": "ru",
        "plural_categories": ["one", "few", "many"],
        "texts": {"Send": "Отправить", "{n} message": ["{n} form 0", "{n} form 1", "{n} form 2"]},
    }
    assert first.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    again = Client().get("/app/catalog/ru.json", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.headers["Cache-Control"]) == (304, "public, no-cache")
    assert Client().get("/app/catalog/xx.json").status_code == 404


def test_english_is_what_the_sources_say():
    assert Client().get("/app/catalog/en.json").json()["texts"] == {}
    assert "en" not in catalogs.catalog_addresses()
