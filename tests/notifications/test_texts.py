"""A push speaks its reader's language, and counts as that language counts."""

import pytest
from django.conf import settings
from django.utils import translation

from notifications.kinds import KINDS
from notifications.models import Notification
from notifications.services import social
from notifications.services.delivery.push_messages import push_contents, push_text
from tests.factories import make_user

LANGUAGES = [code for code, _ in settings.LANGUAGES]


def text(kind, count, language, title=""):
    with translation.override(language):
        return push_text(KINDS[kind], language=language, actor_name="Bob Baker", target_title=title, count=count)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", {1: "1 new message", 2: "2 new messages", 5: "5 new messages", 21: "21 new messages"}),
        (
            "ru",
            {
                1: "1 новое сообщение",
                3: "3 новых сообщения",
                5: "5 новых сообщений",
                11: "11 новых сообщений",
                21: "21 новое сообщение",
                112: "112 новых сообщений",
            },
        ),
        ("uk", {1: "1 нове повідомлення", 4: "4 нові повідомлення", 12: "12 нових повідомлень"}),
        ("es", {1: "1 mensaje nuevo", 2: "2 mensajes nuevos"}),
        ("de", {1: "1 neue Nachricht", 2: "2 neue Nachrichten"}),
        ("fr", {1: "1 nouveau message", 2: "2 nouveaux messages"}),
        ("pt", {1: "1 nova mensagem", 2: "2 novas mensagens"}),
        ("tr", {1: "1 yeni mesaj", 2: "2 yeni mesaj"}),
        (
            "ar",
            {
                1: "رسالة جديدة",
                2: "رسالتان جديدتان",
                3: "3 رسائل جديدة",
                11: "11 رسالة جديدة",
                100: "100 رسالة جديدة",
            },
        ),
        ("zh-hans", {1: "1 条新消息", 3: "3 条新消息"}),
    ],
)
def test_messages_are_counted_as_the_language_counts(language, expected):
    assert {count: text("message", count, language)[1] for count in expected} == expected


def test_of_several_people_the_actor_is_named_and_the_others_are_counted():
    assert text("post_like", 1, "en") == ("Bob Baker", "Liked your post")
    assert text("post_like", 2, "en") == ("Bob Baker", "and 1 more person liked your post")
    assert text("post_like", 4, "en")[1] == "and 3 more people liked your post"
    assert text("post_like", 22, "ru")[1] == "и ещё 21 человек оценил вашу запись"
    assert text("follow", 3, "ru")[1] == "и ещё 2 человека подписались на вас"


def test_comments_are_counted_themselves():
    assert text("comment", 1, "en")[1] == "Commented on your post"
    assert text("comment", 4, "en")[1] == "4 new comments on your post"
    assert text("reply", 5, "de")[1] == "5 neue Antworten auf deine Kommentare"


@pytest.mark.once
@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_texts_in_every_language(language, kind):
    for count in (1, 2, 3, 5, 11, 21, 100):
        own, english = text(kind, count, language)[1], text(kind, count, "en")[1]
        assert own != english
        assert "%" not in own


def test_the_title_of_a_post_follows_and_a_long_one_is_cut():
    assert text("post_like", 1, "en", "Green tea")[1] == "Liked your post: Green tea"
    assert text("post_like", 1, "zh-hans", "绿茶")[1] == "赞了你的帖子：绿茶"
    assert len(text("post_like", 1, "en", "x" * 400)[1]) == 200
    assert text("post_like", 1, "en", "100 % %(count)d")[1] == "Liked your post: 100 % %(count)d"


@pytest.mark.django_db
def test_the_recipients_language_decides_not_the_actors():
    recipient = make_user("Olga", language="ru")
    actor = make_user("Ann", language="en")
    for number in range(3):
        social.notify(
            kind="comment",
            recipient_id=recipient.id,
            actor_id=actor.id,
            target_id=7,
            title="Чай",
            comment_id=number + 1,
        )
    row = Notification.objects.get()
    with translation.override("en"):
        content = push_contents([(row.id, recipient.language)]).get((row.id, recipient.language))
    assert content is not None
    assert (content.title, content.body) == ("Ann Example", "3 новых комментария к вашей записи: Чай")
    assert content.data == {"type": "comment", "notification_id": str(row.id), "post_id": "7"}
    assert content.count == 3
    assert content.kind.collapse_key == "activity"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "opens"), [("follow", "user_id"), ("follow_request", "user_id"), ("post_like", "post_id")]
)
def test_a_push_says_what_opens_on_a_tap(alice, bob, kind, opens):
    social.notify(kind=kind, recipient_id=alice.id, actor_id=bob.id, target_id=7)
    row = Notification.objects.get()
    content = push_contents([(row.id, "en")]).get((row.id, "en"))
    assert content is not None
    assert content.data == {
        "type": kind,
        "notification_id": str(row.id),
        opens: str(bob.id if opens == "user_id" else 7),
    }
