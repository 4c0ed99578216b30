"""A new token for an open socket."""

import threading

from accounts.sign_in import sessions
from tests.factories import sign_in


def test_a_socket_that_is_renewed_during_the_check_stays(open_socket, alice, transactional_db, monkeypatch):
    """What was read about the earlier token says nothing about the new one."""
    was_read, is_renewed, real = threading.Event(), threading.Event(), sessions.ended

    def slow(tokens):
        result = real(tokens)
        was_read.set()
        is_renewed.wait(10)
        return result

    session, token = sign_in(alice)
    phone = open_socket(token)
    monkeypatch.setattr(sessions, "ended", slow)
    newest = sessions.rotate(session)
    assert was_read.wait(10)
    assert phone.command("auth", token=newest)["ok"] is True
    is_renewed.set()
    assert phone.silence(1) == []
    phone.send("ping")
    phone.expect("pong")
