"""The law of the channel: state by REST at the start + events = state by REST at the end."""

import random

import pytest

from messaging.services import conversations, messages, reactions
from realtime import wakeups
from tests.client import ApiClient
from tests.factories import sign_in

API = "/api/v1"


class Device:
    """What an app keeps: filled over REST once, then only by events."""

    def __init__(self, token, user_id):
        self.rest = ApiClient(token)
        self.user_id = user_id
        start = self.rest.get(f"{API}/realtime/changes")
        self.position = {"epoch": start["epoch"], "seq": start["seq"]}
        self.conversations = self.state()

    def state(self):
        """Everything over REST, in the shape that events keep."""
        state = {}
        for conversation in self.rest.get(f"{API}/messages/conversations?limit=100")["conversations"]:
            path = f"{API}/messages/conversations/{conversation['id']}/messages?limit=100"
            listed = self.rest.get(path)["messages"]
            state[conversation["id"]] = {
                "unread_count": conversation["unread_count"],
                "last_read_id": conversation["last_read_id"],
                "other_last_read_id": conversation["other_last_read_id"],
                "other_user": conversation["other_user"],
                "messages": {message["id"]: message for message in listed},
            }
        return state

    def apply(self, frame):
        data, kind = frame["data"], frame["type"]
        assert frame["seq"] == self.position["seq"] + 1, "a hole, or twice"
        self.position["seq"] = frame["seq"]
        if kind == "conversation.created":
            new = data["conversation"]
            fields = ("unread_count", "last_read_id", "other_last_read_id", "other_user")
            state = {name: new[name] for name in fields} | {"messages": {}}
            self.conversations.setdefault(new["id"], state)
            return
        if kind.startswith(("notification", "block", "profile")):
            return
        conversation = self.conversations[data["conversation_id"]]
        held = conversation["messages"]
        if kind in ("message.new", "message.edited"):
            held[data["message"]["id"]] = data["message"]
            self._quote(held, data["message"]["id"], data["message"])
        elif kind == "message.deleted":
            held.pop(data["message_id"], None)
            self._quote(held, data["message_id"], None)
        elif kind == "message.reactions":
            held[data["message_id"]]["reactions"] = data["reactions"]
        elif kind == "conversation.read":
            mine = data["user_id"] == self.user_id
            conversation["last_read_id" if mine else "other_last_read_id"] = data["last_read_id"]
        elif kind == "conversation.cleared":
            for message_id in [known for known in held if known <= data["cleared_up_to_id"]]:
                del held[message_id]
                self._quote(held, message_id, None)
            conversation["unread_count"] = len(
                [m for m in held.values() if m["sender_id"] != self.user_id and m["id"] > conversation["last_read_id"]]
            )
        if "unread_count" in data:
            conversation["unread_count"] = data["unread_count"]

    @staticmethod
    def _quote(held, message_id, message):
        """What a reply shows of the message it answers."""
        for reply in held.values():
            if reply["reply_to_id"] == message_id:
                if message is None:
                    reply["reply_to"] = None
                elif reply["reply_to"] is not None:
                    reply["reply_to"] = reply["reply_to"] | {"body": message["body"]}


def walk(people, participants, dice, steps):
    """Any of these people does any of these things; what the rules forbid does not happen."""
    from rest_framework.exceptions import APIException

    written = {conversation_id: [] for conversation_id in participants}
    for step in range(steps):
        conversation_id = dice.choice(list(participants))
        actor = dice.choice(participants[conversation_id])
        known = written[conversation_id]
        message_id = dice.choice(known) if known else None
        what = dice.choice(["send", "send", "send", "reply", "edit", "delete", "react", "unreact", "read", "clear"])
        try:
            if what == "send" or message_id is None:
                known.append(messages.send(sender=actor, conversation_id=conversation_id, body=f"step {step}")[0].id)
            elif what == "reply":
                sent, _ = messages.send(
                    sender=actor, conversation_id=conversation_id, body=f"re {step}", reply_to_id=message_id
                )
                known.append(sent.id)
            elif what == "edit":
                messages.edit(editor=actor, message_id=message_id, body=f"edited {step}")
            elif what == "delete":
                messages.delete(user=actor, message_id=message_id)
            elif what == "react":
                reactions.add(user=actor, message_id=message_id, emoji=dice.choice("👍🎉😀"))
            elif what == "unreact":
                reactions.remove(user=actor, message_id=message_id, emoji=dice.choice("👍🎉😀"))
            elif what == "read":
                conversations.mark_read(reader_id=actor.id, conversation_id=conversation_id, message_id=message_id)
            elif dice.random() < 0.2:
                conversations.clear(user_id=actor.id, conversation_id=conversation_id, message_id=message_id)
        except APIException:
            pass


@pytest.mark.timeout(180)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_replay_equals_the_state_though_wake_ups_are_lost(open_socket, alice, bob, charlie, monkeypatch, seed):
    dice = random.Random(seed)
    publish = wakeups.publish

    def lossy(state):
        publish([message for message in state if dice.random() >= 0.3])

    monkeypatch.setattr(wakeups, "publish", lossy)
    first = conversations.start(starter=alice, user_id=bob.id)[0].id
    participants = {first: [alice, bob]}
    walk([alice, bob], participants, dice, 10)
    devices = [Device(sign_in(person)[1], person.id) for person in (alice, bob, bob, charlie)]
    sockets = [open_socket(device.rest.token, resume=device.position) for device in devices]
    participants[conversations.start(starter=charlie, user_id=bob.id)[0].id] = [bob, charlie]
    walk([alice, bob, charlie], participants, dice, 80)
    # One device goes away and comes back in the middle.
    sockets[1].close()
    walk([alice, bob, charlie], participants, dice, 40)
    for frame in sockets[1].events:
        devices[1].apply(frame)
    sockets[1] = open_socket(devices[1].rest.token, resume=devices[1].position)
    walk([alice, bob, charlie], participants, dice, 40)
    for device, socket in zip(devices, sockets, strict=True):
        socket.send("ping")
        head = socket.expect("pong", timeout=30)["data"]["seq"]
        while not socket.events or socket.events[-1]["seq"] < head:
            socket.read(30)
        for frame in socket.events:
            device.apply(frame)
        assert device.conversations == device.state()
