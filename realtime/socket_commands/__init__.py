"""The table of commands that a client may send, each with its serializer and service.

A new command is one row: the serializer that validates its data, and a function that calls the service
and returns the data of the reply, with the keys of the matching REST reply. An exception becomes the
error reply, with the same code as over REST.
"""

from realtime.calls import socket_commands as calls
from realtime.kinds import CommandContext, CommandSpec
from realtime.socket_commands import messages, presence

__all__ = ["COMMANDS", "CommandContext", "CommandSpec"]

COMMANDS: dict[str, CommandSpec] = {**messages.COMMANDS, **presence.COMMANDS, **calls.COMMANDS}
