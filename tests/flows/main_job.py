"""The main job: two people talk, the server dies in the middle, nothing is lost, nothing is twice."""

from server.protocols import CLOSE_RESTART
from tests.parallel import Started
from tests.waiting import wait_for

BEFORE, DURING = 5, 25


def two_people_talk(server, alice, bob):
    """Alice and Bob, who are signed in, write to each other; the server is killed in the middle. At the end it has stopped."""
    conversation_id = alice.call("POST", "/messages/conversations", {"user_id": bob.id}, status=201)["conversation"][
        "id"
    ]
    listener = bob.socket()
    speaker = alice.socket()

    sent = []
    for number in range(BEFORE):
        body = f"over REST {number}"
        sent.append(alice.send(conversation_id, body, f"rest-{number}"))
        assert received(listener)["message"]["body"] == body
    for number in range(BEFORE):
        body, ref = f"over the socket {number}", f"s{number}"
        data = {"conversation_id": conversation_id, "body": body, "client_id": f"socket-{number}"}
        speaker.send("message.send", data, ref=ref)
        reply = speaker.wait_for("reply", ref=ref)
        assert reply["ok"] is True, reply
        sent.append(reply["data"]["message"])
        assert received(listener)["message"]["body"] == body

    # The server dies while Alice writes; her app repeats what was not acknowledged.
    def write():
        for number in range(DURING):
            sent.append(alice.send(conversation_id, f"through the storm {number}", f"storm-{number}"))

    writer = Started(write)
    wait_for(lambda: len(sent) >= 2 * BEFORE + 3, what="the first messages of the storm")
    server.kill()
    listener.receive_until_closed()
    listener.close()
    position = listener.position()
    server.start()
    writer.end(seconds=120)

    again = bob.socket(resume=position)
    again.wait_for("synced")
    seen = [event["data"]["message"] for event in news(listener.events)]
    expected = len(sent)
    while len(seen) + len(news(again.events)) < expected:
        again.receive()
    events = [*listener.events, *again.events]
    seen += [event["data"]["message"] for event in news(again.events)]

    # Numbers without a hole and without a repeat, over both connections.
    numbers = [event["seq"] for event in events]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert [message["id"] for message in seen] == [message["id"] for message in sent]
    assert [message["body"] for message in seen] == [message["body"] for message in sent]
    assert len({message["id"] for message in sent}) == expected

    # And over REST: the same messages, the unread count, and what reading does to it.
    assert [message["id"] for message in reversed(bob.messages(conversation_id))] == [m["id"] for m in sent]
    assert bob.call("GET", "/notifications/unread-count")["message_unread_count"] == expected
    bob.call("POST", f"/messages/conversations/{conversation_id}/read", {})
    assert bob.call("GET", "/notifications/unread-count")["message_unread_count"] == 0
    assert again.wait_for("conversation.read")["data"]["unread_count"] == 0

    # A stop that was asked for closes what is still open in a way that clients understand.
    assert server.stop() == 0
    again.receive_until_closed()
    assert again.connection.close_code == CLOSE_RESTART
    again.close()
    speaker.close()
    assert "Traceback" not in server.output()


def received(socket):
    """The next new message on a socket."""
    return socket.wait_for("message.new")["data"]


def news(events):
    return [event for event in events if event["type"] == "message.new"]
