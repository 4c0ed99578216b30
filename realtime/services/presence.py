"""Who is there: open sockets, told to the people one talks with, unless hidden or blocked.

A socket's row is the only thing written; it is touched by the sweep of its process, so that a
process that was killed takes its people offline by itself.
"""

from typing import TYPE_CHECKING, Any

from django.utils import timezone

from accounts.selectors import ids_blocked_either_way, users_by_ids
from accounts.services import last_seen
from messaging.selectors import peer_ids_sharing
from realtime import groups, selectors
from realtime.kinds import Device

if TYPE_CHECKING:
    from accounts.models import User

WATCHED = 100


def watch(*, viewer: "User", device: Device, user_ids: list[int]) -> list[dict[str, Any]]:
    """How those stand whom the viewer may watch: a conversation is shared, nobody blocks, nobody hides.

    From now on this socket hears of their changes, and of nobody else's. The others are left out without
    a word: hidden looks like unknown.
    """
    peers = peer_ids_sharing(viewer.id, user_ids)
    allowed = sorted(peers - ids_blocked_either_way(viewer.id, peers))
    people = users_by_ids(allowed)
    online = selectors.online_user_ids(allowed)
    states = [
        _state(people[user_id], online=user_id in online)
        for user_id in allowed
        if user_id in people and people[user_id].show_last_seen
    ]
    # In one go and in this order: what is true now must not arrive before the socket knows whom it watches.
    groups.publish(
        [
            groups.watch_message(viewer.id, device.socket_id, user_ids),
            *(
                groups.frame_message(viewer.id, {"type": "presence", "data": state}, only=device.socket_id)
                for state in states
                if state["online"]
            ),
        ]
    )
    return states


def came(*, person: "User") -> None:
    """The first socket of a person has opened."""
    _tell_watchers(person, online=True)


def went(*, user_id: int) -> None:
    """A socket closed, and its row is gone; the last one of a person is news."""
    last_seen.note(user_id=user_id, at=timezone.now())
    if not selectors.online_user_ids([user_id]):
        person = users_by_ids([user_id]).get(user_id)
        if person is not None:
            _tell_watchers(person, online=False)


def _tell_watchers(person: "User", *, online: bool) -> None:
    """To every socket of a peer; each passes on only what its client watches."""
    peers = selectors.online_peers_of(person.id) if person.show_last_seen else set()
    if not peers:
        return
    peers -= ids_blocked_either_way(person.id, peers)
    frame = {"type": "presence", "data": _state(person, online=online)}
    groups.publish(groups.frame_message(peer, frame) for peer in sorted(peers))


def _state(person: "User", *, online: bool) -> dict[str, Any]:
    seen = person.last_seen_at
    return {
        "user_id": person.id,
        "online": online,
        "last_seen_at": None if seen is None else seen.isoformat().replace("+00:00", "Z"),
    }
