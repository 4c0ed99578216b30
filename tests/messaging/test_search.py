"""Search inside a conversation: what is found, in which order, and with how much work."""

import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from messaging.models import Message
from messaging.services import messages
from tests.messaging.conftest import conversation_path, message_path


@pytest.fixture
def find(conversation):
    from urllib.parse import quote

    def search(client, q, more="", status=200):
        return client.get(conversation_path(conversation, f"/search?q={quote(q, safe='')}{more}"), status=status)

    return search


# text, queries that find it, queries that do not
FOLDING = [
    ("Привет, Мир", ["привет", "МИР", "вет, м", "ПРИВЕТ"], ["превет", "privet"]),
    ("Crème Brûlée", ["creme", "BRULEE", "crème", "brûl"], ["kreme"]),
    ("STRASSE und Straße", ["straße", "strasse", "STRASSE"], ["strase"]),
    ("İstanbul", ["istanbul", "İSTANBUL"], ["stambul"]),
    ("你好，世界", ["你", "世界", "好，世"], ["您", "界世"]),
    ("東京タワー", ["東京", "タワー", "ﾀﾜｰ"], ["大阪"]),
    ("한국어 메시지", ["한국", "메시지", "국어 메"], ["중국"]),
    ("مرحبا بالعالم", ["مرحبا", "بالعالم"], ["سلام"]),
    ("العَرَبِيَّة لـــغة", ["العربية", "العَرَبية", "لغة"], ["غربية"]),
    ("آمن، مسؤول", ["آمن", "مسؤول"], ["امن", "مسوول"]),
    ("שָׁלוֹם עולם", ["שלום", "שָׁלוֹם"], ["שלם"]),
    ("100% sure_thing C:\\path", ["100%", "%", "_", "sure_thing", "\\", "C:\\p", "0% s"], ["100_", "%%", "sure%thing", "\\\\"]),
    ("ﬁne Ⅷ", ["fine", "viii"], ["fone"]),
    ("Łódź, Tromsø, Đakovo", ["lodz", "łódź", "ŁÓDŹ", "TROMSO", "tromsø", "dakovo"], ["lozd", "tromsoe"]),
    ("Ærøskøbing, Þór, œuvre", ["aeroskobing", "ærøsk", "thor", "ÞÓR", "oeuvre"], ["arosk", "por"]),
    ("Kadıköy, Ħamrun, Guðrún", ["kadikoy", "KADIKÖY", "hamrun", "gudrun"], ["kadkoy"]),
    ("Йод и ёлка", ["йод", "ёлка", "елка"], ["иод"]),
    ("it's \"quoted\" 'x'; --", ["it's", '"quoted"', "'; --"], ["''"]),
    ("emoji 👍🏽 here", ["👍", "👍🏽", "here"], ["🎉"]),
    ("I don’t know", ["don't", "don’t", "don`t", "don´t", "donʼt", "don＇t", "DON'T KNOW"], ["dont", 'don"t']),
    ("п'ять O'Brien", ["п’ять", "пʼять", "o’brien"], ["пять"]),
    ("he said “yes” and „no‟", ['"yes"', "«yes»", "〝yes〞", '"no"', "＂no＂"], ["'yes'"]),
    ("« Bonjour ! » l’été", ['" bonjour ! "', "«\u202fbonjour\u202f!\u202f»", "l'ete"], ["«bonjour"]),
    ("pages 3–5 — done -- now", ["3-5", "3—5", "3−5", "3‑5", "5 - done", "done – now", "5 -- done"], ["35"]),
    ("wait... what", ["wait…", "… what", "⋯ what"], ["wait.what"]),
    ("Well… then", ["well...", "well…"], ["well then"]),
    ("צה״ל ג׳ירפה בית־ספר", ['צה"ל', "צה״ל", "ג'ירפה", "בית-ספר", "בֵּית־סֵפֶר"], ["צהל"]),
    ("كتاب علي ١٢٣", ["کتاب علی 123", "كتاب", "علی ۱۲۳", "١٢٣", "123", "۱۲۳", "１２３"], ["كتب"]),
    ("کتاب علی ۱۲۳", ["كتاب علي", "علي ١٢٣", "على"], ["321"]),
    ("مدرسة لیلی ہفتہ", ["مدرسه", "مدرسة", "ليلى", "هفته"], ["مدرس لي"]),
    ("مسئله ٱلكتاب ﻛﺘﺎﺏ", ["مسئله", "مسئله", "الكتاب", "كتاب"], ["مسءله"]),
    ("می‌خواهم", ["میخواهم", "می‌خواهم", "ميخواهم"], ["می خواهم"]),
    ("قُرْءَانٌ كِتَـٰب رَبِّۖ", ["قرءان", "كتب رب", "كِتَب"], ["قران"]),
    ("exam\u200bple soft\u00adhyphen wo\u2060rd", ["example", "exa\u200cmple", "softhyphen", "soft\u00adhyphen", "word"], ["exam ple"]),
    ("in\u034fvi\u3164si\u180ebl\ufeffe \u202ernt\u202c", ["invisible", "rnt", "\u2068invisible\u2069", "\u200e invisible \u200f", "invisible\u2800"], ["invis ible"]),
    ("a\u00a0b\u3000c\u2009d\u202fe\tf", ["a b c d e f", "a\u00a0b", "d\u2003e"], ["ab"]),
    ("५ रुपये ৭ ๙ ௩ ٪١٠ ۲٫۵", ["5 रु", "7", "9", "3", "%10", "2.5"], ["6"]),
    ("हिन्दी में", ["हिन्दी", "में"], ["हन्द"]),
    ("ภาษาไทย น้ำ", ["ภาษา", "น้ำ", "น้ํา"], ["ภาพ"]),
    ("Tiếng Việt, Đà Nẵng", ["tieng viet", "TIẾNG", "Tie\u0302\u0301ng", "da nang", "ĐÀ NẴNG"], ["tieng va"]),
    ("\u1112\u1161\u11ab\u1100\u1173\u11af", ["한글", "한", "\u1112\u1161\u11ab"], ["글한"]),
    ("ガラス ﾊﾟﾝ カ\u3099ス", ["ｶﾞﾗｽ", "パン", "ﾊﾟﾝ", "ガス", "ガ"], ["カラス"]),
    ("ΟΔΟΣ οδός", ["οδος", "ΟΔΌΣ", "οδοσ"], ["οδας"]),
    ("IĞDIR İzmir ılık", ["ığdır", "igdir", "izmir", "ilik", "İZMİR"], ["izmur"]),
    ("ﬂuﬃer ĳs ŉ ǆ ﬆ ﷺ", ["fluffier", "ijs", "dz", "st", "صلى"], ["flufier"]),
    ("Əliyev Ɗan Ƙano ŋ ⱥ", ["eliyev", "dan kano", "ŋ a"], ["əlijev"]),
    ("ⓒⓐⓕⓔ 𝓯𝓪𝓷𝓬𝔂 ｆｕｌｌ", ["cafe", "fancy", "full"], ["caff"]),
    ("Влади́мир, її́ ѓ й", ["владимир", "її", "Влади́мир", "ѓ", "й"], ["владимир,ї", "г "]),
    ("ווײַל װאָס", ["ווייל", "וואס", "ווײַל"], ["ייול"]),
    ("東京〜大阪 ～ 1", ["東京~大阪", "東京～大阪", "〜 1"], ["東京大阪"]),
    ("⽇本 ㈱ ㍿", ["日本", "(株)", "株式会社"], ["月本"]),
    ("❤️ 👨‍👩‍👧", ["❤", "❤️", "👨‍👩‍👧"], ["👩‍👨"]),
    ("line one\r\nline two\u2028three", ["one\nline", "two\nthree"], ["oneline"]),
    ("اب،ج؛د؟ هل۔", ["اب,ج", "ج;د?", "هل."], ["اب ج"]),
    ("½ a∕b 3∶2 4∗5", ["1/2", "1⁄2", "a/b", "3:2", "4*5"], ["12"]),
    ("แม่ นํ้า ເເມ່ ນໍ້າ", ["เเม่", "แม่", "น้ำ", "น้ํา", "ແມ່", "ນ້ຳ", "ນ້ໍາ"], ["เม่"]),
    ("അവന്\u200d ഉത്സവം എത്ര പാൽ", ["അവൻ", "അവന്\u200d", "പാല്\u200d", "പാൽ"], ["അവര്\u200d"]),
    ("উৎসব হঠাত্\u200d", ["উত্\u200dসব", "উৎসব", "হঠাৎ"], ["উসব"]),
    ("Ƈaafe ɩjo ʊsu ǝgba ƭaɠi", ["caafe", "ijo usu", "egba", "tagi"], ["kaafe"]),
    ("two  spaces \u00a0\u3000 here", ["two spaces", "two  spaces here", "spaces\u00a0here"], ["twospaces"]),
    ("two\nlines", ["two\nlines", "lines"], ["twolines"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "matching", "absent"), FOLDING)
def test_folding_is_the_same_on_both_databases(as_alice, as_bob, send_message, find, text, matching, absent):
    sent = send_message(as_alice, text)
    send_message(as_alice, "noise")
    for q in matching:
        assert [m["id"] for m in find(as_bob, q)["messages"]] == [sent["id"]], q
    for q in absent:
        assert find(as_bob, q) == {"ok": True, "messages": [], "has_more": False, "next_before": None}, q


def test_hits_are_whole_messages_newest_first_in_pages(as_alice, as_bob, send_message, find, thread):
    for n in range(25):
        send_message(as_alice if n % 2 else as_bob, f"tea {n}" if n % 5 else "coffee")
    listed = [m for m in thread(as_bob)["messages"] if m["body"].startswith("tea")]
    first = find(as_bob, "TEA", "&limit=12")
    assert (first["messages"], first["has_more"]) == (listed[:12], True)
    assert first["next_before"] == listed[11]["id"]
    second = find(as_bob, "TEA", f"&limit=12&before={first['next_before']}")
    assert (second["messages"], second["has_more"]) == (listed[12:], False)
    assert len(find(as_bob, "tea")["messages"]) == 20


def test_the_last_full_page_has_no_more(as_alice, as_bob, send_message, find):
    for n in range(6):
        send_message(as_alice, f"tea {n}")
    assert find(as_bob, "tea", "&limit=6")["has_more"] is False
    assert find(as_bob, "tea", "&limit=5")["has_more"] is True


def test_gone_messages_are_not_found(as_alice, as_bob, conversation, send_message, find):
    cleared, deleted = send_message(as_alice, "secret one"), send_message(as_alice, "secret two")
    as_alice.delete(message_path(deleted["id"]))
    assert [m["id"] for m in find(as_bob, "secret")["messages"]] == [cleared["id"]]
    as_bob.post(conversation_path(conversation, "/clear"))
    assert find(as_bob, "secret")["messages"] == []
    assert len(find(as_alice, "secret")["messages"]) == 1


def test_an_edit_is_found_by_its_new_text(as_alice, as_bob, send_message, find):
    sent = send_message(as_alice, "before")
    as_alice.patch(message_path(sent["id"]), {"body": "after"})
    assert find(as_bob, "before")["messages"] == []
    assert [m["id"] for m in find(as_bob, "after")["messages"]] == [sent["id"]]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "q=",
        "q=%20%20",
        "q=%E2%80%8B",
        "q=%E2%A0%80",
        "q=%E2%80%8E%20%D9%80",
        "q=" + "x" * 129,
        "q=a%00b",
        "q=x&limit=0",
        "q=x&before=a",
    ],
)
def test_odd_searches_are_refused(as_alice, conversation, query):
    refused = as_alice.get(conversation_path(conversation, f"/search?{query}"), status=400)
    assert refused["error"] == "validation_error"
    assert len(refused["fields"]) == 1


@pytest.fixture
def long_history(alice, conversation):
    """260 messages of which the oldest and one in the middle are rare."""
    made = []
    for n in range(260):
        text = {0: "needle ё", 130: "needle ё"}.get(n, f"hay common {n % 7}")
        made.append(messages.send(sender=alice, conversation_id=conversation, body=text)[0].id)
    return made


@override_settings(MESSAGING_SEARCH_SCAN=50, MESSAGING_SEARCH_SCAN_MAX=100)
def test_a_rare_word_is_found_beyond_the_newest(as_bob, long_history, find):
    reply = find(as_bob, "needle")
    assert [m["id"] for m in reply["messages"]] == [long_history[130], long_history[0]]
    assert reply["has_more"] is False
    first = find(as_bob, "needle", "&limit=1")
    assert [m["id"] for m in first["messages"]] == [long_history[130]]
    second = find(as_bob, "needle", f"&limit=1&before={first['next_before']}")
    assert [m["id"] for m in second["messages"]] == [long_history[0]]
    assert (first["has_more"], second["has_more"]) == (True, False)


@override_settings(MESSAGING_SEARCH_SCAN=50, MESSAGING_SEARCH_SCAN_MAX=100)
def test_one_letter_is_searched_page_by_page(as_bob, long_history, find):
    results, before, requests = [], None, 0
    while True:
        reply = find(as_bob, "ё", f"&before={before}" if before else "")
        requests += 1
        results += [m["id"] for m in reply["messages"]]
        if not reply["has_more"]:
            break
        before = reply["next_before"]
    assert results == [long_history[130], long_history[0]]
    assert requests == 3


def test_a_common_word_asks_the_newest_rows_only(as_bob, long_history, find):
    with CaptureQueriesContext(connection) as captured:
        assert len(find(as_bob, "common")["messages"]) == 20
    assert len(captured) <= 4


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no text index")
def test_the_text_index_serves_rare_words(long_history):
    assert Message.objects.count() == 260
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
        cursor.execute("EXPLAIN SELECT id FROM messaging_message WHERE body_folded LIKE '%needle%'")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "message_search" in plan


def test_what_search_stores_is_a_few_times_the_message_at_most(alice, conversation):
    """U+FDFA is 18 letters in its folded form; alone it is found by them."""
    lengths = {}
    for body in ("\ufdfa" * 4096, "\ufb03" * 4096, "\ufdfa"):
        sent, _ = messages.send(sender=alice, conversation_id=conversation, body=body)
        lengths[body] = len(Message.objects.get(id=sent.id).body_folded)
    assert list(lengths.values()) == [3 * 4096 + 64, 3 * 4096, 18]
