"""What a client may say, and which service answers: a table.

A new command is one row: the serializer that checks its data, and a function that calls the service
and returns the data of the reply, with the keys of the matching REST reply. What it raises becomes
the error reply, with the code that REST would give.
"""

from realtime.inbound import calls, messages, presence
from realtime.inbound.table import Caller, Command

__all__ = ["COMMANDS", "Caller", "Command"]

COMMANDS: dict[str, Command] = {**messages.COMMANDS, **presence.COMMANDS, **calls.COMMANDS}
