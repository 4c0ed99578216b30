"""Every command in every state: the documented answer, and nothing changed by a refusal."""

import pytest

from realtime.exceptions import CallConflict
from realtime.models import Call
from tests.realtime.phones import conversation_of, phone_of, start_call

STATES = ("ringing", "connecting", "active", "ended")
COMMANDS = ("ringing", "accept", "decline", "cancel", "connected", "hangup", "signal", "invite")
TALKING = {"connected", "hangup", "signal"}

# Who may do what; everything else is a conflict. An invitation of the callee in "ringing" is glare.
ALLOWED = {
    ("ringing", "caller"): {"cancel"},
    ("ringing", "caller's other"): {"cancel"},
    ("ringing", "callee"): {"ringing", "accept", "decline", "invite"},
    ("ringing", "callee's other"): {"ringing", "accept", "decline", "invite"},
    ("connecting", "caller"): TALKING,
    ("connecting", "callee"): TALKING,
    ("active", "caller"): TALKING,
    ("active", "callee"): TALKING,
    **{("ended", who): {"invite"} for who in ("caller", "caller's other", "callee", "callee's other")},
}

AFTERWARDS = {
    "accept": "connecting",
    "decline": "ended",
    "cancel": "ended",
    "hangup": "ended",
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("who", ["caller", "caller's other", "callee", "callee's other"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_meets_a_state(state, who, command, alice, bob):
    chat = conversation_of(alice, bob)
    people = {
        "caller": phone_of(alice),
        "caller's other": phone_of(alice),
        "callee": phone_of(bob),
        "callee's other": phone_of(bob),
    }
    call_id = start_call(people["caller"], people["callee"], chat, state)
    phone = people[who]
    ask = getattr(phone, command)
    argument = chat if command == "invite" else call_id
    if command not in ALLOWED.get((state, who), set()):
        with pytest.raises(CallConflict):
            ask(argument)
        assert Call.objects.get(id=call_id).state == state
        return
    answer = ask(argument)
    call = Call.objects.get(id=call_id)
    if command == "invite":
        assert (answer.id == call_id, answer.state) == (
            (True, "connecting") if state == "ringing" else (False, "ringing")
        )
    else:
        assert call.state == AFTERWARDS.get(command, state)
