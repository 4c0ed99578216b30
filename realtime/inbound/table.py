"""The shape of a row, and of who speaks."""

from collections.abc import Callable
from typing import Any, NamedTuple

from rest_framework.serializers import Serializer

from realtime.kinds import Device


class Caller(NamedTuple):
    """The person as they are now (read with the session for every command), and the device."""

    user: Any
    device: Device


class Command(NamedTuple):
    input: type[Serializer[Any]]
    run: Callable[[Caller, dict[str, Any]], dict[str, Any]]
    # The shape of the reply's data, for the AsyncAPI document.
    reply: type[Serializer[Any]]
    # Whatever reaches another person wants a confirmed address.
    for_verified: bool = True
