"""Looking at the feed and having seen it."""

from datetime import timedelta

import pytest
from django.test import RequestFactory
from django.utils import timezone

from notifications.models import Notification
from notifications.services import feed
from notifications.viewsets import FeedViewSet
from tests.client import ApiClient
from tests.factories import make_user, sign_in
from tests.parallel import run_parallel

FEED = "/api/v1/notifications"


@pytest.fixture
def ten_rows(alice, bob, like):
    for post_id in range(1, 11):
        like(bob, alice, post_id)


@pytest.mark.django_db
class TestList:
    def test_limit_and_offset(self, as_alice, ten_rows):
        first = as_alice.get(f"{FEED}?limit=4")
        second = as_alice.get(f"{FEED}?limit=4&offset=4")
        third = as_alice.get(f"{FEED}?limit=4&offset=8")
        posts = [[row["target"]["id"] for row in page["notifications"]] for page in (first, second, third)]
        assert posts == [[10, 9, 8, 7], [6, 5, 4, 3], [2, 1]]
        assert [page["has_more"] for page in (first, second, third)] == [True, True, False]
        assert {page["unread_count"] for page in (first, second, third)} == {10}
        assert third["next_cursor"] is None

    def test_twenty_without_a_limit_and_never_more_than_fifty(self, as_alice, alice, bob, like):
        for post_id in range(55):
            like(bob, alice, post_id + 1)
        assert len(as_alice.get(FEED)["notifications"]) == 20
        assert len(as_alice.get(f"{FEED}?limit=50")["notifications"]) == 50
        assert len(as_alice.get(f"{FEED}?limit=51")["notifications"]) == 50
        assert len(as_alice.get(f"{FEED}?limit={10**30}")["notifications"]) == 50

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("limit=0", "limit"),
            ("limit=-1", "limit"),
            ("limit=abc", "limit"),
            ("limit=", "limit"),
            ("limit=1.0", "limit"),
            ("limit=٣", "limit"),
            ("limit=true", "limit"),
            ("offset=-1", "offset"),
            (f"offset=-{'9' * 5000}", "offset"),
            ("offset=x", "offset"),
            ("cursor=x", "cursor"),
            ("cursor=AAAA", "cursor"),
            ("cursor=%00", "cursor"),
            ("unread=maybe", "unread"),
        ],
    )
    def test_what_is_no_page_is_refused_by_name(self, as_alice, query, field):
        body = as_alice.get(f"{FEED}?{query}", status=400)
        assert body["error"] == "validation_error"
        assert list(body["fields"]) == [field]

    def test_a_huge_offset_is_an_empty_page(self, as_alice, ten_rows):
        body = as_alice.get(f"{FEED}?offset={10**40}")
        assert (body["notifications"], body["has_more"], body["unread_count"]) == ([], False, 10)

    def test_the_cursor_is_steady_while_rows_return_to_the_top(self, as_alice, alice, charlie, ten_rows, like):
        seen, cursor = [], ""
        while True:
            page = as_alice.get(f"{FEED}?limit=3{cursor}")
            seen += [row["target"]["id"] for row in page["notifications"]]
            if not page["has_more"]:
                break
            cursor = f"&cursor={page['next_cursor']}"
            like(charlie, alice, 10)
        assert seen == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]

    def test_unread_only(self, as_alice, ten_rows):
        read_id = as_alice.get(FEED)["notifications"][3]["id"]
        as_alice.post(f"{FEED}/{read_id}/read")
        ids = [row["id"] for row in as_alice.get(f"{FEED}?unread=true")["notifications"]]
        assert len(ids) == 9
        assert read_id not in ids
        assert len(as_alice.get(f"{FEED}?unread=True")["notifications"]) == 9
        assert len(as_alice.get(f"{FEED}?unread=false")["notifications"]) == 10

    def test_it_takes_three_queries_whatever_the_number(self, as_alice, alice, bob, like, django_assert_num_queries):
        as_alice.get(FEED)
        for number in range(20):
            like(make_user(f"Dora{number}"), alice, number + 1)
        with django_assert_num_queries(3):  # the token, the page, the count
            as_alice.get(FEED)

    def test_each_user_sees_their_own(self, as_bob, as_charlie, ten_rows):
        for client in (as_bob, as_charlie):
            body = client.get(FEED)
            assert (body["notifications"], body["unread_count"]) == ([], 0)


@pytest.mark.django_db
class TestUnreadCount:
    def test_counts_and_the_pace_of_polling(self, as_alice, ten_rows):
        response = as_alice.raw("GET", f"{FEED}/unread-count")
        assert response.json() == {"ok": True, "unread_count": 10, "message_unread_count": 0}
        assert response.headers["X-Poll-Interval"] == "30"

    def test_an_unchanged_badge_is_answered_without_a_body(self, as_alice, alice, charlie, ten_rows, like):
        url = f"{FEED}/unread-count"
        etag = as_alice.raw("GET", url).headers["ETag"]
        for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
            response = as_alice.raw("GET", url, headers={"If-None-Match": known})
            assert (response.status_code, response.content) == (304, b"")
            assert response.headers["ETag"] == etag
            assert response.headers["X-Poll-Interval"] == "30"
        like(charlie, alice, 99)
        response = as_alice.raw("GET", url, headers={"If-None-Match": etag})
        assert (response.status_code, response.json()["unread_count"]) == (200, 11)
        assert response.headers["ETag"] != etag

    def test_the_view_itself_sends_no_body_with_304(self, alice):
        """Django's test client would take one away; a server must not see one."""
        request = RequestFactory().get(
            f"{FEED}/unread-count",
            headers={"Authorization": f"Bearer {sign_in(alice)[1]}", "If-None-Match": "*"},
        )
        response = FeedViewSet.as_view({"get": "unread_count"})(request)
        assert (response.status_code, response.content) == (304, b"")
        assert "Content-Type" not in response.headers


@pytest.mark.django_db
class TestReading:
    def test_read_all(self, as_alice, ten_rows):
        url = f"{FEED}/read-all"
        counts = {"ok": True, "unread_count": 0, "message_unread_count": 0}
        assert as_alice.post(url) == counts | {"updated": 10}
        assert as_alice.post(url) == counts | {"updated": 0}
        assert {row["is_read"] for row in as_alice.get(FEED)["notifications"]} == {True}

    def test_read_all_stops_at_the_moment_of_the_request(self, alice, bob, charlie, like):
        like(bob, alice, 7)
        like(bob, alice, 8)
        moment = timezone.now()
        like(charlie, alice, 8)
        like(charlie, alice, 9)
        assert feed.mark_all_read(user_id=alice.id, until=moment) == 1
        unread = Notification.objects.filter(is_read=False).values_list("target_id", flat=True)
        assert set(unread) == {8, 9}

    def test_one_row(self, as_alice, ten_rows):
        row = as_alice.get(FEED)["notifications"][0]
        for _ in range(2):
            assert as_alice.post(f"{FEED}/{row['id']}/read") == {
                "ok": True,
                "notification": row | {"is_read": True},
                "unread_count": 9,
                "message_unread_count": 0,
            }

    def test_removal(self, as_alice, ten_rows):
        row_id = as_alice.get(FEED)["notifications"][0]["id"]
        assert as_alice.delete(f"{FEED}/{row_id}") == {
            "ok": True,
            "notification_id": row_id,
            "unread_count": 9,
            "message_unread_count": 0,
        }
        as_alice.delete(f"{FEED}/{row_id}", status=404)

    @pytest.mark.parametrize("odd", ["0", "-1", "abc", "1.0", "01", str(2**63), "9" * 400, "%00", "٣"])
    def test_odd_foreign_and_unknown_rows_are_the_same(self, as_alice, as_bob, ten_rows, odd):
        foreign = as_alice.get(FEED)["notifications"][0]["id"]
        answers = []
        for row_id in (odd, foreign, 10**12):
            for method, path in (("POST", f"{FEED}/{row_id}/read"), ("DELETE", f"{FEED}/{row_id}")):
                body = as_bob.request(method, path, None, 404)
                body.pop("request_id")
                answers.append(body)
        assert all(answer == answers[0] for answer in answers)
        assert answers[0]["error"] == "not_found"
        assert as_alice.get(FEED)["unread_count"] == 10

    def test_a_token_is_needed(self, anonymous):
        for method, path in (
            ("GET", FEED),
            ("GET", f"{FEED}/unread-count"),
            ("POST", f"{FEED}/read-all"),
            ("POST", f"{FEED}/1/read"),
            ("DELETE", f"{FEED}/1"),
            ("GET", f"{FEED}/preferences"),
            ("PUT", f"{FEED}/preferences"),
            ("PATCH", f"{FEED}/preferences"),
        ):
            assert anonymous.request(method, path, None, 401)["error"] == "token_invalid"

    def test_who_has_not_confirmed_yet_may_read_and_mark_read(self, db):
        client = ApiClient(sign_in(make_user("Uma", verified=False))[1])
        for method, path in (
            ("GET", FEED),
            ("GET", f"{FEED}/unread-count"),
            ("GET", f"{FEED}/preferences"),
            ("POST", f"{FEED}/read-all"),
        ):
            client.request(method, path, None, 200)


@pytest.mark.django_db(transaction=True)
def test_an_event_during_read_all_stays_unread(alice, bob, charlie, like):
    """Likes that arrive while all is marked as read stay unread: none is lost."""
    people = [make_user(f"Dora{number}") for number in range(30)]
    moments = []

    def pour():
        for actor in people:
            like(actor, alice, 7)

    def read():
        for _ in range(15):
            moments.append(timezone.now())
            feed.mark_all_read(user_id=alice.id, until=moments[-1])

    run_parallel([pour, read])
    rows = list(Notification.objects.order_by("id"))
    assert sum(row.count for row in rows) == 30
    for row in rows:
        assert row.count == row.occurrences.count()
        assert not row.is_read or row.created_at <= moments[-1]
        assert not (row.is_read and row.created_at > row.read_at + timedelta(seconds=0))
    assert all(row.is_read for row in rows if row.created_at < moments[-1] - timedelta(seconds=1))
    assert sum(row.is_open for row in rows) <= 1
