"""Every way in which a socket ends, with the code that tells the client what to do."""

import time
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Session, User
from accounts.services import account_status
from accounts.sign_in import sessions
from accounts.tokens import SessionToken
from messaging.services import conversations, messages
from realtime import wakeups
from realtime.consumers import authentication
from realtime.models import Socket
from realtime.services import sockets as socket_service
from tests.client import ApiClient
from tests.factories import make_user, sign_in
from tests.waiting import wait_for


def token_until(session, seconds):
    now = timezone.now()
    expires_at = now + timedelta(seconds=seconds)
    claims = {"sid": session.sid, "user_id": session.user_id, "generation": session.generation}
    return str(SessionToken.issue(**claims, issued_at=now, expires_at=expires_at))


@pytest.fixture
def session(alice, transactional_db):
    return sign_in(alice)


# --- 4401: token missing, wrong, expired, ended ---------------------------------------------------


def test_logout_closes_within_two_seconds(open_socket, session):
    phone, other = open_socket(session[1]), open_socket(sign_in(User.objects.get())[1])
    started = time.monotonic()
    ApiClient(session[1]).post("/api/v1/auth/logout")
    assert phone.closed() == (4401, "token_revoked")
    assert time.monotonic() - started < 2
    assert other.silence(0.3) == []
    wait_for(lambda: Socket.objects.count() == 1)


def test_a_lost_wake_up_delays_that_by_one_sweep(open_socket, session, settings, monkeypatch):
    settings.REALTIME_SWEEP_SECONDS = settings.REALTIME_SWEEP_SECONDS_EMBEDDED = 1
    phone = open_socket(session[1])
    monkeypatch.setattr(wakeups, "publish", lambda messages: None)
    sessions.revoke([session[0]], reason="removed")
    assert phone.closed(4) == (4401, "token_revoked")


@pytest.mark.parametrize("wake_up", ["heard", "lost"])
def test_a_new_password_closes_sockets_of_earlier_tokens(open_socket, session, settings, monkeypatch, wake_up):
    """A copied token opens a socket as well; one that was opened with the new token stays."""
    if wake_up == "lost":
        settings.REALTIME_SWEEP_SECONDS = settings.REALTIME_SWEEP_SECONDS_EMBEDDED = 1
        monkeypatch.setattr(wakeups, "publish", lambda messages: None)
    copied = open_socket(session[1])
    phone = open_socket(sessions.rotate(session[0]))
    assert copied.closed() == (4401, "token_revoked")
    late = open_socket(session[1], wait=False)
    assert late.expect("reply")["error"] == "token_revoked"
    phone.send("ping")
    phone.expect("pong")
    assert Session.objects.get(id=session[0].id).ended_at is None


def test_a_socket_that_is_renewed_in_time_stays(open_socket, session, settings, monkeypatch):
    settings.REALTIME_SWEEP_SECONDS = settings.REALTIME_SWEEP_SECONDS_EMBEDDED = 2
    phone = open_socket(session[1])
    with monkeypatch.context() as quiet:
        quiet.setattr(wakeups, "publish", lambda messages: None)
        newest = sessions.rotate(session[0])
    assert phone.command("auth", token=newest)["ok"] is True
    wakeups.publish([{"type": "recheck", "user_id": session[0].user_id}])
    assert phone.silence(3) == []
    phone.send("ping")
    phone.expect("pong")


def test_a_command_with_an_earlier_token_is_refused_even_without_a_wake_up(open_socket, session, monkeypatch):
    phone = open_socket(session[1])
    monkeypatch.setattr(wakeups, "publish", lambda messages: None)
    sessions.rotate(session[0])
    assert phone.command("conversation.read", conversation_id=1)["error"] == "token_revoked"
    assert phone.closed() == (4401, "token_revoked")


def test_a_block_by_staff_closes(open_socket, session, alice, settings):
    settings.REALTIME_SWEEP_SECONDS = settings.REALTIME_SWEEP_SECONDS_EMBEDDED = 1
    phone = open_socket(session[1])
    User.objects.filter(id=alice.id).update(blocked_at=timezone.now())
    assert phone.closed(4) == (4401, "account_blocked")
    late = open_socket(session[1], wait=False)
    assert late.expect("reply")["error"] == "account_blocked"
    assert late.closed() == (4401, "account_blocked")


def test_a_block_through_the_service_says_so(open_socket, session, alice):
    phone = open_socket(session[1])
    account_status.block(user=alice, reason="spam", actor="test")
    assert phone.closed() == (4401, "account_blocked")


def test_a_command_after_the_end_is_refused_even_without_a_wake_up(open_socket, session, monkeypatch):
    phone = open_socket(session[1])
    monkeypatch.setattr(wakeups, "publish", lambda messages: None)
    sessions.revoke([session[0]], reason="removed")
    assert phone.command("conversation.read", conversation_id=1)["error"] == "token_revoked"
    assert phone.closed() == (4401, "token_revoked")


def test_expiry_is_announced_and_closes_on_time(open_socket, session, alice):
    started = time.monotonic()
    phone = open_socket(token_until(session[0], 3))
    warning = phone.expect("auth.expiring")
    assert set(warning["data"]) == {"expires_at"}
    assert phone.closed() == (4401, "token_expired")
    assert 1.5 < time.monotonic() - started < 5


def test_a_machine_that_slept_closes_sockets_of_expired_tokens(open_socket, session, alice, monkeypatch):
    """Meanwhile the clock of the event loop stood still."""
    monkeypatch.setattr(authentication, "CLOCK_SECONDS", 0.5)
    phone = open_socket(token_until(session[0], 3600))
    with time_machine.travel(timezone.now() + timedelta(hours=2)):
        assert phone.closed(5) == (4401, "token_expired")


@pytest.mark.parametrize("by_header", [True, False])
def test_the_first_frame_is_ready_with_a_token_that_is_about_to_expire(open_socket, session, alice, by_header):
    phone = open_socket(token_until(session[0], 3), by_header=by_header)
    phone.expect("auth.expiring")
    assert [frame["type"] for frame in phone.frames] == ["ready", "auth.expiring"]
    assert phone.command("auth", token=token_until(session[0], 3))["ok"] is True
    phone.expect("auth.expiring")
    assert [frame["type"] for frame in phone.frames[2:]] == ["reply", "auth.expiring"]


def test_renewal_moves_the_expiry(open_socket, session, alice):
    phone = open_socket(token_until(session[0], 3))
    reply = phone.command("auth", token=token_until(session[0], 3600))
    assert reply["ok"] is True
    time.sleep(3.2)
    phone.send("ping")
    phone.expect("pong")


def test_renewal_with_a_dead_token_is_refused_and_the_socket_stays(open_socket, session, alice):
    phone = open_socket(session[1])
    assert phone.command("auth", token="x.y.z")["error"] == "token_invalid"
    assert phone.command("auth", token=token_until(session[0], -100))["error"] == "token_expired"
    phone.send("ping")
    phone.expect("pong")


def test_renewal_by_another_session_moves_the_socket_to_it(open_socket, session, alice):
    phone = open_socket(session[1])
    other, token = sign_in(alice)
    assert phone.command("auth", token=token)["ok"]
    sessions.revoke([session[0]], reason="logout")
    phone.send("ping")
    phone.expect("pong")
    sessions.revoke([other], reason="logout")
    assert phone.closed() == (4401, "token_revoked")


@pytest.mark.parametrize("by_header", [True, False])
@pytest.mark.parametrize("kind", ["garbage", "expired", "revoked", "empty", "half"])
def test_tokens_that_do_not_open(open_socket, session, alice, kind, by_header):
    codes = {"garbage": "token_invalid", "empty": "token_invalid", "half": "token_invalid",
             "expired": "token_expired", "revoked": "token_revoked"}  # fmt: skip
    token = {
        "garbage": "garbage",
        "empty": "",
        "half": session[1][:-10],
        "expired": token_until(session[0], -3600),
        "revoked": session[1],
    }[kind]
    if kind == "revoked":
        sessions.revoke([session[0]], reason="logout")
    phone = open_socket(token, by_header=by_header, wait=False)
    assert phone.closed() == (4401, codes[kind])
    assert [frame["type"] for frame in phone.frames] == ([] if by_header else ["reply"])
    assert Socket.objects.count() == 0


@pytest.mark.parametrize(
    "data", [{}, {"token": None}, {"token": 7}, {"token": ["x"]}, {"token": " "}, {"token": "x" * 9000}]
)
def test_a_first_frame_without_a_token_ends_at_once(open_socket, live, data):
    phone = open_socket()
    phone.send("auth", data, ref="1")
    assert phone.closed(3)[0] == 4401
    assert [(frame["type"], frame["ref"], frame["ok"]) for frame in phone.frames] == [("reply", "1", False)]


@pytest.mark.parametrize("scheme", ["Basic", "basic", "Digest", "Negotiate", "NTLM"])
def test_what_a_browser_sends_to_a_proxy_leaves_the_first_frame_to_sign_in(open_socket, session, alice, scheme):
    phone = open_socket(headers={"Authorization": f"{scheme} YWxhZGRpbjpvcGVuc2VzYW1l"})
    phone.send("auth", {"token": session[1]}, ref="1")
    assert phone.expect("ready")["data"]["user_id"] == alice.id


@pytest.mark.parametrize("header", ["Token abc", "Basical YWI=", "", "Bearer"])
def test_another_scheme_is_no_token(open_socket, session, header):
    phone = open_socket(headers={"Authorization": header})
    assert phone.closed() == (4401, "token_invalid")


def test_a_token_in_the_address_is_refused(open_socket, live, session):
    phone = open_socket(url=f"{live.url}?token={session[1]}")
    assert phone.closed() == (4401, "token_in_query")


def test_the_first_frame_must_be_auth(open_socket, live):
    phone = open_socket()
    phone.send("ping", ref="1")
    assert phone.expect("reply")["error"] == "token_invalid"
    assert phone.closed()[0] == 4401


# --- 4403, 4408, 4409, 4503 -----------------------------------------------------------------------


def test_the_token_of_another_user_is_no_renewal(open_socket, session, bob):
    phone = open_socket(session[1])
    assert phone.command("auth", token=sign_in(bob)[1])["ok"] is False
    assert phone.closed() == (4403, "other_user")


def test_without_a_first_frame_it_ends(open_socket, live, settings):
    settings.REALTIME_AUTH_SECONDS = 0.5
    phone = open_socket()
    assert phone.closed(3) == (4408, "no_auth")


def test_a_sign_in_that_takes_long_is_not_a_missing_one(open_socket, session, settings, monkeypatch):
    settings.REALTIME_AUTH_SECONDS = 0.5
    sign_in_now = authentication._sign_in

    def sign_in_later(*token):
        time.sleep(1)
        return sign_in_now(*token)

    monkeypatch.setattr(authentication, "_sign_in", sign_in_later)
    phone = open_socket(session[1])
    phone.send("ping")
    assert phone.expect("pong")


def test_sockets_sign_in_one_after_the_other(open_socket, session, monkeypatch):
    sign_in_now = authentication._sign_in
    running, most = 0, 0

    def counted(*token):
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.1)
        running -= 1
        return sign_in_now(*token)

    monkeypatch.setattr(authentication, "_sign_in", counted)
    phones = [open_socket(session[1], wait=False) for _ in range(4)]
    assert [phone.expect("ready")["type"] for phone in phones] == ["ready"] * 4
    assert most == 1


def test_a_client_that_never_acknowledges_gets_one_window_and_is_closed(open_socket, session, alice, bob, settings):
    settings.REALTIME_WINDOW_EVENTS = 20
    settings.REALTIME_STUCK_SECONDS = 2
    conversation = conversations.start(starter=bob, user_id=alice.id)[0].id
    phone = open_socket(session[1], acks=False)
    for n in range(40):
        messages.send(sender=bob, conversation_id=conversation, body=f"{n}")
    while len(phone.events) < 20:
        phone.read()
    wakeups.publish([wakeups.frame_message(alice.id, {"type": "typing", "data": {"dropped": True}})])
    assert phone.closed(10) == (4408, "slow")
    assert len(phone.events) == 20
    assert [frame for frame in phone.frames if frame["type"] == "typing"] == []
    # Nothing is lost: the next socket goes on where this one stopped.
    again = open_socket(session[1], resume={"epoch": phone.ready["epoch"], "seq": phone.events[-1]["seq"]})
    again.expect("synced")
    numbers = [frame["seq"] for frame in phone.events + again.events]
    assert numbers == list(range(phone.ready["seq"] + 1, again.ready["seq"] + 1))


def test_the_window_counts_bytes_too(open_socket, session, alice, bob, settings):
    settings.REALTIME_WINDOW_BYTES = 60_000
    settings.REALTIME_STUCK_SECONDS = 2
    conversation = conversations.start(starter=bob, user_id=alice.id)[0].id
    phone = open_socket(session[1], acks=False)
    for _ in range(12):
        messages.send(sender=bob, conversation_id=conversation, body="日" * 4096)
    assert phone.closed(10) == (4408, "slow")
    assert 4 <= len([frame for frame in phone.events if frame["type"] == "message.new"]) <= 5


def test_an_acknowledgement_opens_the_window_again(open_socket, session, alice, bob, settings):
    settings.REALTIME_WINDOW_EVENTS = 5
    conversation = conversations.start(starter=bob, user_id=alice.id)[0].id
    phone = open_socket(session[1])
    for n in range(12):
        messages.send(sender=bob, conversation_id=conversation, body=f"{n}")
    for _ in range(12):
        phone.expect("message.new")
    assert [frame["seq"] - phone.ready["seq"] for frame in phone.events][:12] == list(range(1, 13))


@pytest.mark.parametrize("wake_up", ["heard", "lost"])
def test_the_eleventh_socket_closes_the_oldest(open_socket, session, alice, settings, monkeypatch, wake_up):
    if wake_up == "lost":
        settings.REALTIME_SWEEP_SECONDS = settings.REALTIME_SWEEP_SECONDS_EMBEDDED = 1
        monkeypatch.setattr(wakeups, "publish", lambda messages: None)
    phones = [open_socket(session[1]) for _ in range(10)]
    assert [phone.silence(0.05) for phone in phones] == [[]] * 10
    newest = open_socket(sign_in(alice)[1])
    assert phones[0].closed() == (4409, "too_many_sockets")
    newest.send("ping")
    newest.expect("pong")
    phones[1].send("ping")
    phones[1].expect("pong")
    wait_for(lambda: Socket.objects.filter(user=alice).count() == 10)


def test_a_socket_whose_row_was_purged_connects_again(open_socket, session, settings):
    """Its process could not touch the row for minutes, as the database was away; without it the user counts as offline."""
    settings.REALTIME_SWEEP_SECONDS = settings.REALTIME_SWEEP_SECONDS_EMBEDDED = 1
    phone = open_socket(session[1])
    assert len(socket_service.purge_dead(now=timezone.now() + timedelta(minutes=5))) == 1
    assert phone.closed(4) == (4503, "restart")


def test_sockets_of_others_are_not_counted(open_socket, settings, transactional_db):
    settings.REALTIME_SOCKETS_PER_USER = 1
    phones = [open_socket(sign_in(make_user(f"P{n}"))[1]) for n in range(3)]
    for phone in phones:
        phone.send("ping")
        phone.expect("pong")


def test_a_socket_has_a_life_of_its_own(open_socket, session, settings):
    settings.REALTIME_LIFE_SECONDS = 1
    phone = open_socket(session[1])
    assert phone.expect("goaway")["data"]["retry_ms"] > 0
    assert phone.closed() == (4503, "goaway")


def test_the_server_says_that_it_stops(open_socket, live, session):
    phone = open_socket(session[1])
    live.server.should_exit = True
    assert phone.expect("goaway")["data"]["retry_ms"] > 0
    assert phone.closed() == (4503, "restart")


def test_an_erased_session_row_is_an_ended_one(open_socket, session, settings):
    settings.REALTIME_SWEEP_SECONDS = settings.REALTIME_SWEEP_SECONDS_EMBEDDED = 1
    phone = open_socket(session[1])
    Session.objects.all().delete()
    assert phone.closed(4) == (4401, "token_revoked")
