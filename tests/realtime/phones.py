"""Devices that take part in calls: a session and an open socket each."""

import secrets
from dataclasses import dataclass
from typing import Any

from accounts.models import Block, User
from accounts.signals import block_changed
from core.database.transactions import unit_of_work
from messaging.services import conversations
from realtime.calls import selectors
from realtime.calls import services as calls
from realtime.calls.serializers import CallSerializer
from realtime.devices import Device
from realtime.services import sockets
from tests.factories import sign_in


@dataclass
class Phone:
    user: User
    device: Device

    def invite(self, conversation_id: int, media: str = "audio", client_id: str | None = None) -> Any:
        return calls.invite(
            actor=self.user,
            device=self.device,
            conversation_id=conversation_id,
            media=media,
            client_id=client_id or secrets.token_hex(8),
        )

    def ringing(self, call_id: Any) -> Any:
        return calls.ringing(user_id=self.user.id, call_id=call_id)

    def accept(self, call_id: Any) -> Any:
        return calls.accept(device=self.device, call_id=call_id)

    def decline(self, call_id: Any, reason: str = "declined") -> Any:
        return calls.decline(user_id=self.user.id, call_id=call_id, reason=reason)

    def cancel(self, call_id: Any) -> Any:
        return calls.cancel(user_id=self.user.id, call_id=call_id)

    def connected(self, call_id: Any) -> Any:
        return calls.connected(device=self.device, call_id=call_id)

    def hangup(self, call_id: Any) -> Any:
        return calls.hangup(device=self.device, call_id=call_id)

    def signal(self, call_id: Any, kind: str = "ice", payload: Any = None) -> None:
        calls.signal(
            device=self.device,
            call_id=call_id,
            kind=kind,
            payload={"candidate": "candidate:1"} if payload is None else payload,
        )

    def sees(self, call_id: int) -> dict[str, Any]:
        calls.end_overdue_of(user_id=self.user.id)
        call = selectors.call_for(self.user.id, call_id)
        return CallSerializer.render(call, device=self.device)

    def close(self) -> None:
        """The socket is gone; the sign-in stays."""
        sockets.closed(socket_ids=[self.device.socket_id])
        calls.socket_closed(socket_ids=[self.device.socket_id])

    def reopen(self) -> "Phone":
        """The same sign-in comes back with a new socket."""
        return _open(self.user, self.device.session_id)


def phone_of(user: User) -> Phone:
    """One more device of this person."""
    session, _ = sign_in(user)
    return _open(user, session.id)


def _open(user: User, session_id: int) -> Phone:
    device = Device(user.id, session_id, secrets.token_hex(8))
    sockets.opened(device)
    calls.socket_opened(device=device)
    return Phone(user, device)


def conversation_of(user: User, other: User) -> int:
    """The id of the conversation of the two."""
    return conversations.start(starter=user, user_id=other.id)[0].id


def start_call(caller: Phone, callee: Phone, conversation_id: int, state: str = "active") -> int:
    """The id of a call between two devices that has come this far."""
    call_id = caller.invite(conversation_id).id
    if state in ("connecting", "active", "ended"):
        callee.accept(call_id)
    if state in ("active", "ended"):
        caller.connected(call_id)
        callee.connected(call_id)
    if state == "ended":
        caller.hangup(call_id)
    return int(call_id)


def block(blocker: User, blocked: User) -> None:
    with unit_of_work():
        Block.objects.create(blocker=blocker, blocked=blocked)
        block_changed.send(Block, blocker_id=blocker.id, blocked_id=blocked.id, blocked=True)


def unblock(blocker: User, blocked: User) -> None:
    with unit_of_work():
        Block.objects.filter(blocker=blocker, blocked=blocked).delete()
        block_changed.send(Block, blocker_id=blocker.id, blocked_id=blocked.id, blocked=False)
