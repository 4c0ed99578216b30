"""The texts of the AsyncAPI document: summaries of commands and events, and the close codes."""

from typing import Any, NamedTuple

ABOUT = """The real-time channel. Open one WebSocket per device.

There are three kinds of frames. A *command* goes from the client to the server and carries a `ref`. A *reply* has the
same `ref`. An *event* has none. Events with a `seq` are durable: they are numbered without gaps, kept in a log, and
replayed after `resume`. Applying one twice changes nothing. Events without a `seq` are transient and are never replayed.

Sign in with a bearer token in the `Authorization` header, or with the command `auth` as the first frame within 5 seconds.
Tokens in the query string are refused. Frames are JSON text of at most 65,536 bytes. Send `ping` every 25 seconds, and
`ack` for the events that you have stored: the server pauses when 200 events or 512 KiB are not acknowledged."""


TAGS = {
    "commands": "Frames from the client. Each is answered by a reply with the same `ref`.",
    "durable events": "Events with a `seq`. They are kept in a log and replayed after `resume`.",
    "transient events": "Events without a `seq`. They are never replayed.",
}


class CloseCode(NamedTuple):
    code: int
    reason: str
    meaning: str
    remedy: str


CLOSE_CODES = (
    CloseCode(4400, "bad_frame", "A frame was not a JSON object.", "Fix the client. Connect again."),
    CloseCode(4401, "token_revoked", "The token is missing, expired or revoked.", "Sign in again. Do not repeat with this token."),
    CloseCode(4403, "forbidden", "The origin of the page is not allowed.", "Do not connect again."),
    CloseCode(4408, "slow", "No sign-in within 5 seconds, or the client reads too slowly.", "Connect again and resume."),
    CloseCode(4409, "too_many_sockets", "The user has more than 10 sockets; the oldest one was closed.", "Do not connect again by yourself."),
    CloseCode(4429, "flooding", "The client sent commands faster than they could be processed.", "Wait for replies. Connect again with jitter."),
    CloseCode(4503, "restart", "The server restarts.", "Connect again with jitter and resume."),
)  # fmt: skip

# Message of the document → one sentence about it.
SUMMARIES = {
    "command.auth": "Signs the socket in, or renews its token. With `resume`, continues from a position in the log.",
    "command.resume": "Replays the events after `seq`, then sends `synced`; or `resync` when that is not possible.",
    "command.ack": "Confirms that all events up to `seq` are stored.",
    "command.ping": "Keeps the connection open. The server answers with `pong`.",
    "command.message.send": "Sends a text message.",
    "command.message.edit": "Replaces the text of the user's own message.",
    "command.message.delete": "Deletes the user's own message for both users.",
    "command.message.react": "Adds an emoji to a message.",
    "command.message.unreact": "Removes an emoji of the user from a message.",
    "command.conversation.read": "Marks messages as read, up to the given one or the newest one.",
    "command.typing": "Tells the other user that this user types or has stopped.",
    "command.presence.watch": "Returns the online status of the given users and sends `presence` events from now on.",
    "command.call.invite": "Starts a call in a conversation.",
    "command.call.ringing": "Tells the caller that this device rings.",
    "command.call.accept": "Accepts a ringing call on this device.",
    "command.call.decline": "Declines a ringing call.",
    "command.call.cancel": "Cancels the user's own call while it rings.",
    "command.call.signal": "Passes an offer, an answer or an ICE candidate to the other device.",
    "command.call.connected": "Tells the server that media flows.",
    "command.call.hangup": "Ends a call.",
    "message.new": "There is a new message in a conversation.",
    "message.edited": "The text of a message was changed.",
    "message.deleted": "A message was deleted for both users.",
    "message.reactions": "The reactions to a message have changed. Contains all of them.",
    "conversation.created": "There is a new conversation.",
    "conversation.read": "One of the two users has read a conversation.",
    "conversation.cleared": "The user has cleared a conversation, here or on another device.",
    "block.changed": "The user has blocked or unblocked another user.",
    "profile.updated": "The profile of a user has changed.",
    "notification.new": "There is a new notification, or an existing one has changed.",
    "notification.read_all": "All notifications were marked read.",
    "call.updated": "The state of a call has changed.",
    "ready": "The socket is signed in. Contains the position of the log and the live calls.",
    "synced": "Everything that was missed has been sent.",
    "resync": "The position is too old or unknown. Load the state again and continue from `seq`.",
    "pong": "Answers `ping` with the current position of the log.",
    "typing": "The other user types or has stopped.",
    "presence": "The online status of a watched user has changed.",
    "conversation.delivered": "Messages have arrived on a device of the other user.",
    "badge": "The unread counts have changed.",
    "auth.expiring": "The token expires soon. Send `auth` with a new one.",
    "goaway": "The server restarts soon. Connect again after `retry_ms`.",
    "call.ringing": "A device of the other user rings.",
    "call.signal": "An offer, an answer or an ICE candidate of the other device.",
    "reply.error": "The command failed. The codes are those of the HTTP operations.",
}

# Values of the examples by the name of their field. Others follow from the type.
VALUES: dict[str, Any] = {
    "conversation_id": 9, "message_id": 118, "last_read_id": 118, "delivered_id": 118, "cleared_up_to_id": 118,
    "other_last_read_id": 117, "other_delivered_id": 118, "reply_to_id": 117, "user_id": 7, "sender_id": 7, "caller_id": 7,
    "call_id": 12, "notification_id": 41, "user_ids": [7], "seq": 1018, "min_seq": 1, "unread_count": 1, "count": 1,
    "message_unread_count": 3, "body": "Hello Bob!", "client_id": "a1b2c3", "emoji": "👍", "username": "alice_k7m2p",
    "first_name": "Alice", "last_name": "Archer", "title": "Alice Archer", "avatar_url": None, "epoch": "7d1f3c5a9b2e4068",
    "token": "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "ping_s": 25, "window": 200,
    "retry_ms": 1500, "reason": "too_old", "media_url": None, "media": None, "reply_to": None, "edited_at": None,
    "call": None, "outcome": None, "answered_at": None, "ended_at": None, "duration_s": None, "silent": False,
    "is_edited": False, "is_read": False, "is_blocked": False, "urls": ["turn:turn.example.com:3478"],
    "username_turn": "1795305600:7", "credential": "q8Zr2mV5xT0c", "calls": [],
    "payload": {"sdp": "v=0"},
}  # fmt: skip
# Where the name alone would give the wrong example.
DATA: dict[str, dict[str, Any]] = {
    "command.call.invite": {"conversation_id": 9, "media": "video", "client_id": "call-1"},
    "command.call.decline": {"call_id": 12, "reason": "busy"},
    "command.message.send": {"conversation_id": 9, "body": "Hello Bob!", "client_id": "a1b2c3"},
    "command.auth": {"token": VALUES["token"], "resume": {"epoch": VALUES["epoch"], "seq": 1018}},
}
