"""Calls: the server keeps the state, media is peer to peer.

Every function takes the actor's id, the actor's device and, after `invite`, the call's id. Each locks the call, so that
the second of two concurrent commands sees the result of the first. Lock order: the live-call index of the two users
(ascending), the call, the conversation, and last the streams of the log.
"""

from realtime.calls.services.invitations import accept, cancel, decline, invite, ringing
from realtime.calls.services.signaling import (
    connected,
    hangup,
    ice_for,
    ice_servers,
    signal,
    socket_closed,
    socket_opened,
    socket_renewed,
)
from realtime.calls.services.state import end_between, end_of_sessions, end_overdue, end_overdue_of, erase_of
