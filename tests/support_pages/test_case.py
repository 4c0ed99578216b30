"""A report as a case on one page: what was reported, its surroundings, both people, and what can be done about it."""

import re
from io import BytesIO

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry, User
from accounts.services import account_status
from messaging.models import Message, Report
from messaging.services import conversations, messages, reports
from tests.factories import make_user
from tests.images import corpus
from tests.staff import admin_client, staff

SECRET = "a very private sentence"
REPORTS = "/admin/messaging/report/"
PICTURE = corpus.encoded(corpus.photo(160, 120), "PNG")


def page_of(report):
    return f"{REPORTS}{report.pk}/change/"


def section(page: str, name: str) -> str:
    """The part of a case page under a heading with this id."""
    return re.search(rf'(?s)<section[^>]*aria-labelledby="{name}".*?</section>', page)[0]


def buttons(page: str) -> set[str]:
    return set(re.findall(r'name="action" value="(\w+)"', page))


@pytest.fixture
def conversation(alice, bob):
    return conversations.start(starter=alice, user_id=bob.id)[0]


@pytest.fixture
def report(alice, bob, conversation):
    """Alice's picture in the middle of five messages, reported by Bob."""

    def say(sender, body):
        return messages.send(sender=sender, conversation_id=conversation.id, body=body)[0]

    say(bob, "<before 1>")
    say(alice, "<before 2>")
    sent, _ = messages.send_image(sender=alice, conversation_id=conversation.id, body=SECRET, upload=BytesIO(PICTURE))
    say(bob, "<after 1>")
    say(bob, "<after 2>")
    return reports.report(reporter=bob, message_id=sent.id, reason="threats", comment="every day")


@pytest.fixture
def moderator(db):
    return admin_client(staff("Moderator"))


def reveal(client, *shown, around=True):
    form = {"action": "reveal", "_selected_action": [row.pk for row in shown], "confirmed": "1", "reason": "checked"}
    return client.post(REPORTS, form | ({"around": "on"} if around else {}))


def test_a_case_shows_who_wrote_when_and_no_text(report, alice, bob, moderator):
    page = moderator.get(page_of(report)).content.decode()
    part = section(page, "case-message")
    paths = re.findall(r"/admin/messaging/message/(\d+)/change/", part)
    assert [int(path) for path in paths] == list(Message.objects.order_by("id").values_list("id", flat=True))
    assert len(re.findall(rf"/admin/accounts/user/{alice.id}/change/", part)) == 2
    assert len(re.findall(rf"/admin/accounts/user/{bob.id}/change/", part)) == 3
    assert re.search(
        rf'aria-current="true"><th scope="row"><a href="/admin/messaging/message/{report.message_id}/', part
    )
    assert f"/admin/messaging/conversation/{report.message.conversation_id}/change/" in part
    assert "every day" in page and "threats" in page
    assert SECRET not in page and "before" not in part.replace("before and after", "") and "<img" not in part


def test_a_case_shows_the_history_of_both_people(report, alice, bob, conversation, moderator):
    charlie, by = make_user("Charlie"), staff("Moderator")
    User.objects.filter(id=alice.id).update(created_at=alice.created_at.replace(year=alice.created_at.year - 3))
    other, _ = conversations.start(starter=charlie, user_id=alice.id)
    rude, _ = messages.send(sender=alice, conversation_id=other.id, body="rude")
    mild, _ = messages.send(sender=charlie, conversation_id=other.id, body="mild")
    for reporter, message, close in ((charlie, rude, Report.State.RESOLVED), (alice, mild, Report.State.DISMISSED)):
        row = reports.report(reporter=reporter, message_id=message.id, reason=f"about {message.body}")
        reports.close(report=row, staff=by, state=close, resolution=f"seen {message.body}")
    account_status.block(user=alice, actor=by, reason="warned twice")
    account_status.unblock(user=alice, actor=by, reason="apologised")
    # A new report, so that the others are earlier ones.
    later, _ = messages.send(sender=alice, conversation_id=conversation.id, body="again")
    newest = reports.report(reporter=bob, message_id=later.id, reason="again")

    page = moderator.get(page_of(newest)).content.decode()
    reported, reporter = section(page, "person-reported"), section(page, "person-reporter")
    assert f'<a href="/admin/accounts/user/{alice.id}/change/">{alice}</a>' in reported
    assert f'<a href="/admin/accounts/user/{bob.id}/change/">{bob}</a>' in reporter
    assert "3\xa0years" in reported and "active" in reported
    about, by_her = re.split(r'id="by-reported"', reported)
    assert "<span>open <strong>1</strong></span> <span>resolved <strong>1</strong></span>" in about
    assert "about rude" in about and "threats" in about and "about mild" not in about
    assert "<span>dismissed <strong>1</strong></span>" in by_her and "about mild" in by_her
    assert "<span>open <strong>1</strong></span>" in reporter and "about rude" not in reporter
    for reason in ("seen rude", "warned twice", "apologised"):
        assert reason in reported and reason not in reporter
    everything = re.search(r'id="about-reported">[^<]*<a href="([^"]*)"', about)[1].replace("&amp;", "&")
    assert moderator.get(everything).context["cl"].result_count == Report.objects.filter(reported=alice).count() == 3


def test_revealing_shows_text_time_picture_neighbours_and_actions(report, conversation, moderator):
    answer = reveal(moderator, report)
    page = answer.content.decode()
    part = section(page, "case-message")
    assert re.findall(r"&lt;((?:before|after) \d)&gt;", part) == ["before 1", "before 2", "after 1", "after 2"]
    assert part.count(f"<blockquote>{SECRET}</blockquote>") == 2  # when it was reported, and as it is now
    assert f'<time datetime="{report.message.created_at.isoformat()}">' in part
    picture = re.search(r'<img class="picture" src="([^"]+)"', part)[1].replace("&amp;", "&")
    assert moderator.get(picture)["Content-Type"].startswith("image/")
    assert "no-store" in answer.headers["Cache-Control"]
    assert {"resolve", "dismiss", "note", "block"} <= buttons(page)
    row = AuditEntry.objects.get(action="message.revealed")
    shown = list(Message.objects.order_by("id").values_list("id", flat=True))
    assert (row.target_id, row.reason) == (report.reported_id, "checked")
    assert row.details == {"report_id": report.pk, "shown": shown}
    assert "checked" in section(moderator.get(page_of(report)).content.decode(), "case-log")


def test_without_the_neighbours_only_the_report_is_revealed(report, moderator):
    part = section(reveal(moderator, report, around=False).content.decode(), "case-message")
    assert part.count(SECRET) == 1 and "&lt;" not in part
    assert AuditEntry.objects.get(action="message.revealed").details == {"report_id": report.pk}


def test_the_neighbours_of_a_report_are_preselected(report, moderator):
    page = moderator.post(REPORTS, {"action": "reveal", "_selected_action": [report.pk]}).content.decode()
    assert re.search(r'<input type="checkbox" name="around"[^>]* checked', page)


def test_an_edit_and_a_deletion_after_the_report_are_told_apart(report, alice, moderator):
    messages.edit(editor=alice, message_id=report.message_id, body="nothing at all")
    part = section(reveal(moderator, report).content.decode(), "case-message")
    assert f"<blockquote>{SECRET}</blockquote>" in part and "<blockquote>nothing at all</blockquote>" in part
    assert f"Earlier version: {SECRET}" in part
    messages.delete(user=alice, message_id=report.message_id)
    part = section(reveal(moderator, report).content.decode(), "case-message")
    assert part.count(SECRET) == 1 and "This message was deleted" in part and "<img" not in part


def test_several_reports_are_revealed_below_each_other_with_their_actions(report, alice, bob, conversation, moderator):
    sent, _ = messages.send(sender=alice, conversation_id=conversation.id, body="<another>")
    second = reports.report(reporter=bob, message_id=sent.id, reason="spam")
    page = reveal(moderator, report, second).content.decode()
    assert SECRET in page and "&lt;another&gt;" in page
    assert page.count('value="resolve"') == page.count('value="dismiss"') == 2
    assert AuditEntry.objects.filter(action="message.revealed").count() == 2


def test_a_revealed_message_offers_what_can_be_done(report, moderator):
    form = {"action": "reveal", "_selected_action": [report.message_id], "confirmed": "1", "reason": "checked"}
    page = moderator.post("/admin/messaging/message/", form | {"around": "on"}).content.decode()
    assert {"resolve", "dismiss", "note", "block"} <= buttons(page)
    assert page.count('<img class="picture"') == 1
    assert f'value="messaging.Message:{report.message_id}"' in page


@pytest.mark.parametrize(
    ("action", "field"), [("resolve", "resolution"), ("dismiss", "resolution"), ("note", "reason")]
)
def test_an_action_on_the_report_returns_to_the_case(report, moderator, action, field):
    form = {"action": action, "_selected_action": [report.pk], "from_row": "1"}
    asked = moderator.post(REPORTS, form).content.decode()
    assert "confirm-consequences" in asked and AuditEntry.objects.filter(action__startswith="report.").count() == 0
    done = moderator.post(REPORTS, form | {"confirmed": "1", field: "talked to both"})
    assert done.headers["Location"] == page_of(report)
    entry = AuditEntry.objects.get(action__startswith="report.")
    assert (entry.target_id, entry.reason, entry.details) == (
        report.reported_id, "talked to both", {"report_id": report.pk}
    )  # fmt: skip
    assert "talked to both" in section(moderator.get(page_of(report)).content.decode(), "case-log")


def test_the_reported_person_is_blocked_from_the_case(report, alice, moderator):
    page = section(moderator.get(page_of(report)).content.decode(), "person-reported")
    assert buttons(page) == {"block"}
    form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    form |= {"action": "block"}
    asked = moderator.post("/admin/accounts/user/", form).content.decode()
    assert f'<a href="{page_of(report)}">Cancel</a>' in asked
    form |= dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', asked))
    done = moderator.post("/admin/accounts/user/", form | {"reason": "threats"})
    assert done.headers["Location"] == page_of(report)
    alice.refresh_from_db()
    assert alice.blocked_reason == "threats"
    assert AuditEntry.objects.get(action="user.blocked").target_id == alice.id
    page = section(moderator.get(page_of(report)).content.decode(), "person-reported")
    assert "unblock" in buttons(page) and "threats" in page


def test_erasing_from_the_case_needs_the_permission_and_returns_to_it(report, alice, moderator):
    form = {
        "action": "erase", "_selected_action": [alice.id], "from_row": "1", "came_from": f"messaging.Report:{report.pk}",
        "confirmed": "1", "reason": "asked for",
    }  # fmt: skip
    assert moderator.post("/admin/accounts/user/", form).status_code == 403
    root = admin_client(staff(is_superuser=True))
    assert "erase" in buttons(section(root.get(page_of(report)).content.decode(), "person-reported"))
    done = root.post("/admin/accounts/user/", form, follow=True)
    assert done.redirect_chain[0][0] == page_of(report) and done.status_code == 200
    assert User.objects.get(id=alice.id).erased_at is not None
    assert "erased" in section(done.content.decode(), "person-reported")
    assert SECRET not in reveal(root, report).content.decode()


@pytest.mark.parametrize(
    "place",
    ["", "x", ":1", "messaging.Report:", "messaging.Nothing:1", "auth.Permission:1", "//evil.example:1", "a.b.c:1"],
)
def test_an_action_returns_to_its_own_page_unless_another_one_is_named(alice, moderator, place):
    form = {"action": "block", "_selected_action": [alice.id], "from_row": "1", "came_from": place}
    done = moderator.post("/admin/accounts/user/", form | {"confirmed": "1", "reason": "spam"})
    assert done.headers["Location"] == f"/admin/accounts/user/{alice.id}/change/"


def test_an_action_does_not_return_to_a_page_that_may_not_be_viewed(report, alice):
    support = admin_client(staff("Support"))
    form = {"action": "block", "_selected_action": [alice.id], "from_row": "1", "confirmed": "1", "reason": "spam"}
    done = support.post("/admin/accounts/user/", form | {"came_from": f"messaging.Report:{report.pk}"})
    assert done.headers["Location"] == f"/admin/accounts/user/{alice.id}/change/"


@pytest.mark.parametrize("group", ["Support", "Operations"])
def test_a_case_is_closed_to_staff_without_reports(report, group):
    client = admin_client(staff(group))
    assert client.get(page_of(report)).status_code == 403
    for action in ("reveal", "note", "resolve"):
        form = {"action": action, "_selected_action": [report.pk], "confirmed": "1", "reason": "x", "resolution": "x"}
        assert client.post(REPORTS, form).status_code == 403
    assert not AuditEntry.objects.filter(action__in=["message.revealed", "report.noted", "report.resolved"]).exists()


def test_an_auditor_sees_the_case_and_changes_nothing(report):
    auditor = admin_client(staff("Auditor"))
    page = auditor.get(page_of(report)).content.decode()
    assert buttons(page) == set()
    assert section(page, "person-reported") and section(page, "case-log")
    for action in ("reveal", "note", "resolve", "dismiss"):
        form = {"action": action, "_selected_action": [report.pk], "confirmed": "1", "reason": "x", "resolution": "x"}
        assert auditor.post(REPORTS, form).status_code == 403


def test_a_case_shows_no_part_that_its_reader_may_not_view(report, alice):
    hidden = ["view_user", "view_auditentry", "view_message", "view_conversation"]
    group = Group.objects.get(name="Moderator")
    group.permissions.remove(*group.permissions.filter(codename__in=hidden))
    page = admin_client(staff("Moderator")).get(page_of(report)).content.decode()
    assert str(alice) in page
    assert not re.search(r"/admin/(accounts/(user|auditentry)|messaging/(message|conversation))/", page)
    assert 'id="case-log"' not in page and 'id="decisions-reported"' not in page and "Account age" not in page
    assert buttons(page) == {"reveal", "resolve", "dismiss", "note"}


def test_the_case_of_a_message_that_is_gone_opens(report, conversation, moderator):
    Message.objects.filter(id=report.message_id).delete()
    page = moderator.get(page_of(report)).content.decode()
    assert "The message is no longer stored" in page
    part = section(reveal(moderator, report).content.decode(), "case-message")
    assert SECRET in part and "<img" not in part
    assert f"/admin/messaging/conversation/{conversation.id}/change/" in part


def test_the_case_of_accounts_that_are_gone_opens(report, moderator):
    Report.objects.filter(id=report.pk).update(reporter=None, reported=None)
    assert moderator.get(page_of(report)).status_code == 200
    assert SECRET in reveal(moderator, report).content.decode()


def test_the_queries_of_a_case_do_not_depend_on_its_history(report, alice, bob, conversation):
    client, by = admin_client(staff(is_superuser=True)), staff("Moderator")

    def queries(ask):
        with CaptureQueriesContext(connection) as captured:
            assert ask().status_code == 200
        return len(captured)

    def count():
        newest = Report.objects.latest("id")
        client.get(page_of(newest))  # what is kept for the process is read
        return queries(lambda: client.get(page_of(newest))), queries(lambda: reveal(client, newest))

    sent, _ = messages.send(sender=alice, conversation_id=conversation.id, body="once more")
    reports.report(reporter=bob, message_id=sent.id, reason="spam")
    short = count()
    for number in range(8):
        other = make_user(f"Other{number}")
        talk, _ = conversations.start(starter=other, user_id=alice.id)
        own, _ = messages.send(sender=alice, conversation_id=talk.id, body="x")
        theirs, _ = messages.send(sender=other, conversation_id=talk.id, body="y")
        row = reports.report(reporter=other, message_id=own.id, reason="spam")
        reports.close(report=row, staff=by, state=Report.State.RESOLVED, resolution="warned")
        reports.report(reporter=alice, message_id=theirs.id, reason="spam")
        account_status.block(user=alice, actor=by, reason="spam")
        account_status.unblock(user=alice, actor=by, reason="over")
        messages.send(sender=alice, conversation_id=conversation.id, body="again")
    messages.edit(editor=alice, message_id=sent.id, body="edited")
    last, _ = messages.send(sender=alice, conversation_id=conversation.id, body="last")
    newest = reports.report(reporter=bob, message_id=last.id, reason="spam")
    for number in range(6):
        reports.note(report=newest, staff=by, text=f"note {number}")
    long = count()
    assert long == short
    assert long[0] <= 30, long


def test_a_blocked_person_is_not_offered_the_same_block_again(report, alice, moderator):
    account_status.block(user=alice, actor="test", reason="spam")
    path = f"/admin/accounts/user/{alice.id}/change/"
    in_case = section(moderator.get(page_of(report)).content.decode(), "person-reported")
    for page in (in_case, moderator.get(path).content.decode()):
        labels = dict(re.findall(r'name="action" value="(\w+)"[^>]*>([^<]+)<', page))
        assert labels["block"] == "Change the block" and labels["unblock"] == "Unblock"
    asked = moderator.post(
        "/admin/accounts/user/", {"action": "block", "_selected_action": [alice.id], "from_row": "1"}
    )
    assert "<h1>Change the block</h1>" in asked.content.decode()
