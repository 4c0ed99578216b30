"""Presence and typing notices, for the sockets of the other user only; neither is stored.

A user with an open socket is online, for their contacts only, unless hidden or blocked.

Only the socket's row is written, and the sweep of its process touches it. The users of a killed process count as
offline without further action; the sweeps of other processes announce it.
"""

import time
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import transaction

from accounts.selectors import active_verified_sessions, ids_blocked_either_way, users_by_ids
from accounts.services import profile
from core.conf import project
from core.times import json_time
from messaging.selectors import check_can_contact, conversation_for, presence_visible_to, reachable_peers
from realtime import selectors, wakeups
from realtime.devices import Device
from realtime.services import sockets

if TYPE_CHECKING:
    from accounts.models import User

WATCHED = 100
TYPING_SECONDS = 1.0
# The most conversations that are remembered; the least recent ones are forgotten first.
TYPING_REMEMBERED = 20_000


def watch(*, viewer: "User", device: Device, user_ids: list[int]) -> list[dict[str, Any]]:
    """The presence of those of these users whom the viewer may watch. They share a conversation with a message, the
    other user has written or accepts messages from everyone, there is no block, and presence is not hidden.

    From now on this socket gets changes of these users only. Other ids are left out without an error, so that
    a hidden user looks like an unknown one.
    """
    peers = presence_visible_to(viewer.id, user_ids)
    allowed = peers - ids_blocked_either_way(viewer.id, peers)
    online = selectors.online_user_ids(allowed)
    states = [
        _state(person, online=user_id in online)
        for user_id, person in sorted(users_by_ids(allowed).items())
        if person.show_last_seen
    ]
    watch = wakeups.Watch(type="watch", user_id=viewer.id, only=device.socket_id, watched_ids=user_ids)
    current = [_presence_message(viewer.id, state, only=device.socket_id) for state in states if state["online"]]
    # The socket that asks is in this process. It must know whom it watches before the current state arrives.
    wakeups.deliver_here([watch, *current])
    return states


def user_connected(*, person: "User") -> None:
    """The first socket of a user has opened."""
    if person.show_last_seen:
        wakeups.publish(_to_watchers(person, online=True))


def users_disconnected(*, user_ids: set[int], at: datetime) -> None:
    """A socket of each of these users closed and its row was deleted. Announces a user as offline if it was the last
    one."""
    profile.record_last_seen(user_ids=user_ids, at=at)
    offline = user_ids - selectors.online_user_ids(user_ids)
    people = [person for person in users_by_ids(offline).values() if person.show_last_seen]
    messages = {person.id: _to_watchers(person, online=False) for person in people}
    # Some may have come back meanwhile and were announced as online.
    back = selectors.online_user_ids(offline)
    wakeups.publish(message for user_id, own in messages.items() if user_id not in back for message in own)


def forget_killed(*, now: datetime) -> int:
    """Deletes sockets of processes that were killed and announces their users as offline. Returns how many."""
    purged = sockets.purge_dead(now=now)
    if purged:
        users_disconnected(user_ids={user_id for user_id, _ in purged}, at=max(seen_at for _, seen_at in purged))
    return len(purged)


def visibility_changed(*, person: "User") -> None:
    """The user shows or hides when they are online."""
    messages = _to_watchers(person, online=bool(selectors.online_user_ids({person.id})))
    transaction.on_commit(lambda: wakeups.publish(messages), robust=True)


def _to_watchers(person: "User", *, online: bool) -> list[wakeups.Frame]:
    """Sends the presence to every socket of a contact; each relays only users that its client watches."""
    peers = selectors.online_peers_of(person.id)
    if not peers:
        return []
    peers -= ids_blocked_either_way(person.id, peers)
    state = _state(person, online=online)
    return [_presence_message(peer, state) for peer in sorted(peers)]


def _presence_message(user_id: int, state: dict[str, Any], only: str | None = None) -> wakeups.Frame:
    return wakeups.frame_message(user_id, {"type": "presence", "data": state}, only=only)


def _state(person: "User", *, online: bool) -> dict[str, Any]:
    """The presence as others see it: a hidden user is offline, as an unknown one."""
    last_seen_at = person.last_seen_at if person.show_last_seen else None
    return {
        "user_id": person.id,
        "online": online and person.show_last_seen,
        "last_seen_at": None if last_seen_at is None else json_time(last_seen_at),
    }


# --- Typing ----------------------------------------------------------------------------------------


def typing(*, actor: "User", conversation_id: object, is_typing: bool) -> None:
    """Relays a typing notice. Clients repeat it at least every 4 s while the user types, and expire it after 6 s.

    ConversationNotFound, EmailNotVerified, UserBlocked, MessagePermissionDenied.
    """
    conversation = conversation_for(actor, conversation_id)
    check_can_contact(actor, conversation)
    if _typing_rate.allows(actor.id, conversation.id, is_typing):
        wakeups.publish([_typing_message(conversation.other_id(actor.id), conversation.id, actor.id, is_typing)])


class TypingRate:
    """Allows one notice a second from a user about a conversation, from all sockets of this process. The end of a
    relayed notice passes at once. More notices are dropped without an error, because they would be out of date."""

    def __init__(self) -> None:
        # (user, conversation) → the time of the last relayed notice, and its value.
        self._last: OrderedDict[tuple[int, int], tuple[float, bool]] = OrderedDict()
        self._lock = Lock()

    def allows(self, user_id: int, conversation_id: int, is_typing: bool) -> bool:
        """Whether to relay this notice; it then counts."""
        if not project.RATELIMIT_ENABLE:
            return True
        now, key = time.monotonic(), (user_id, conversation_id)
        with self._lock:
            at, was_typing = self._last.get(key, (-TYPING_SECONDS, False))
            if now - at < TYPING_SECONDS and not (was_typing and not is_typing):
                return False
            # The end of typing does not allow an earlier next notice.
            self._last[key] = (at if now - at < TYPING_SECONDS else now, is_typing)
            self._last.move_to_end(key)
            if len(self._last) > TYPING_REMEMBERED:
                self._last.popitem(last=False)
        return True


_typing_rate = TypingRate()


class TypingNotice(NamedTuple):
    """A user types, or has stopped, on the socket of a session."""

    session_id: int
    user_id: int
    conversation_id: int
    is_typing: bool


def relay_typing_batch(notices: Sequence[TypingNotice]) -> list[bool]:
    """Relays all permitted notices in two queries and one PUBLISH. Returns for each whether it was relayed.

    The caller passes the others to `typing`, which raises their error.
    """
    owners = active_verified_sessions(notice.session_id for notice in notices)
    peers = reachable_peers((notice.conversation_id, notice.user_id) for notice in notices)
    messages, passed = [], []
    for session_id, user_id, conversation_id, is_typing in notices:
        peer_id = peers.get((conversation_id, user_id)) if owners.get(session_id) == user_id else None
        if peer_id is not None and _typing_rate.allows(user_id, conversation_id, is_typing):
            messages.append(_typing_message(peer_id, conversation_id, user_id, is_typing))
        passed.append(peer_id is not None)
    wakeups.publish(messages)
    return passed


def _typing_message(peer_id: int, conversation_id: int, user_id: int, is_typing: bool) -> wakeups.Frame:
    data = {"conversation_id": conversation_id, "user_id": user_id, "is_typing": is_typing}
    return wakeups.frame_message(peer_id, {"type": "typing", "data": data})
