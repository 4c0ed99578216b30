"""The session row is read with its user on every request."""

import pytest

from accounts.exceptions import TokenInvalid, TokenRevoked
from accounts.models import Session
from accounts.services import sessions
from tests.factories import sign_in


def test_authenticating_takes_one_query(alice, django_assert_num_queries):
    _, token = sign_in(alice)
    with django_assert_num_queries(1):
        user, session = sessions.authenticate(token)
    assert user == alice
    assert session.user_id == alice.id


def test_a_refreshed_token_replaces_the_old_one_after_its_first_use(alice):
    _, old = sign_in(alice)
    new = sessions.refresh(old)
    sessions.authenticate(old)
    sessions.authenticate(new)
    newest = sessions.refresh(new)
    assert sessions.authenticate(newest)[0] == alice
    with pytest.raises(TokenRevoked):
        sessions.authenticate(old)


def test_a_token_of_long_ago_ends_the_session(alice):
    session, first = sign_in(alice)
    second = sessions.refresh(first)
    sessions.refresh(second)
    with pytest.raises(TokenRevoked):
        sessions.refresh(first)
    assert Session.objects.get(id=session.id).ended_reason == "reuse"


def test_a_garbled_token_is_invalid(db):
    with pytest.raises(TokenInvalid):
        sessions.authenticate("a.b.c")
