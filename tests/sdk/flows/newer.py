"""What a newer server may send does not break the generated client: codes, kinds, events and fields that it does not know."""

import json
import sys

from parley_client.events import CallRinging, CallSignal, CallUpdated, Unknown, parse
from parley_client.models import ErrorResponse, LoggedEvent, Message, Notification

with open(sys.argv[1], encoding="utf-8") as file:
    newer = json.load(file)
message = Message.from_dict(newer["message"])
assert (message.kind, message.body) == ("poll", "Which day?")
assert message.additional_properties["poll"] == {"choices": ["Monday", "Friday"]}
assert message.call is not None
assert message.call.outcome == "diverted"
notification = Notification.from_dict(newer["notification"])
assert (notification.type_, notification.target.type_) == ("badge_won", "trophy")
event = LoggedEvent.from_dict(newer["event"])
assert (event.type_, event.data.to_dict()) == ("poll.opened", {"poll_id": 6})
error = ErrorResponse.from_dict(newer["error"])
assert error.error == "poll_closed"
# Frames of the socket: events of kinds that are not known, and known events with values that are not.
ringing, signal, paused, updated, transferred, opened = map(parse, newer["frames"])
assert isinstance(ringing, CallRinging)
assert ringing.data.call_id == 4
assert isinstance(signal, CallSignal)
assert signal.data.kind == "hologram"
assert isinstance(updated, CallUpdated)
assert updated.data.call is not None
assert (updated.seq, updated.data.call.outcome) == (10, "diverted")
assert paused == Unknown("call.paused", {"call_id": 4, "by": 3}, None)
assert transferred == Unknown("call.transferred", {"call_id": 4, "to": 5}, 11)
assert opened == Unknown("poll.opened", {"poll_id": 6}, 12)
print("done")
