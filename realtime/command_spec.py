"""The specification of a socket command, and the user and device that sent it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from rest_framework.serializers import Serializer

from realtime.devices import Device


class CommandContext(NamedTuple):
    """The user, read together with the session for every command, and the device."""

    user: Any
    device: Device


class CommandSpec(NamedTuple):
    summary: str
    input: type[Serializer[Any]]
    run: Callable[[CommandContext, dict[str, Any]], dict[str, Any]]
    # The reply over REST, or the shape of the reply's data.
    reply: type[Serializer[Any]]
    # Commands that reach another user need a verified e-mail address.
    for_verified: bool = True
    # The scope of core.api.ratelimits that the same action has over REST; every command counts against the socket.
    rate: str | None = None
