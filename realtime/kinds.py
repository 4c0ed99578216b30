"""Small types that all layers of this app share."""

from collections.abc import Callable
from typing import Any, NamedTuple

from rest_framework.serializers import Serializer


class SocketRef(NamedTuple):
    """The origin of a command: a session and, over the real-time channel, its socket."""

    session_id: int
    # Empty for a REST request.
    socket_id: str = ""


class CommandContext(NamedTuple):
    """The user as they are now (read with the session for every command), and the device."""

    user: Any
    device: SocketRef


class CommandSpec(NamedTuple):
    input: type[Serializer[Any]]
    run: Callable[[CommandContext, dict[str, Any]], dict[str, Any]]
    # The reply over REST, or the shape of the reply's data.
    reply: type[Serializer[Any]]
    # Commands that reach another user need a verified e-mail address.
    for_verified: bool = True
    # The scope of core.ratelimits that the same action has over REST; every command counts against the socket.
    rate: str | None = None
