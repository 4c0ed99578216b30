"""Whatever a client sends, it gets an answer or a close with a reason, and the server lives on."""

import json
import socket as sockets
import time
from contextlib import suppress
from queue import Queue

import pytest
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from realtime.consumers import protocol
from realtime.socket_commands import COMMANDS, OWN_COMMANDS
from server.protocols import MESSAGES_READ_AHEAD, RestartingWebSocket
from tests.factories import sign_in
from tests.realtime.live import PATH
from tests.realtime.test_slow import only_protocol, open_deaf

BAD_FRAMES = {
    "empty": "",
    "no json": "hello",
    "half": '{"type": "ping"',
    "trailing": '{"type": "ping"} x',
    "array": "[]",
    "string": '"ping"',
    "number": "17",
    "null": "null",
    "not a number": '{"type": "ping", "data": {"n": NaN}}',
    "infinity": '{"type": "ping", "data": {"n": -Infinity}}',
    "deep lists": "[" * 30_000 + "]" * 30_000,
    "deep objects": '{"data":' * 7_000 + "1" + "}" * 7_000,
    "long number": '{"type": "ping", "ref": ' + "9" * 20_000 + "}",
    "no type": '{"ref": "1"}',
    "empty type": '{"type": "", "ref": "1"}',
    "type is a number": '{"type": 5, "ref": "1"}',
    "type is a list": '{"type": ["ping"], "ref": "1"}',
    "endless type": json.dumps({"type": "x" * 60_000, "ref": "1"}),
    "data is a list": '{"type": "ping", "ref": "1", "data": [1]}',
    "data is text": '{"type": "ping", "ref": "1", "data": "x"}',
    "ref is an object": '{"type": "ping", "ref": {"a": 1}}',
    "ref is a boolean": '{"type": "ping", "ref": true}',
    "ref is half a character": '{"type": "ping", "ref": "\\ud800"}',
    "endless ref": json.dumps({"type": "ping", "ref": "r" * 65}),
}
BAD_COMMANDS = {
    "unknown": {"type": "message.explode"},
    "private": {"type": "_run"},
    "method": {"type": "websocket.receive"},
    "dunder": {"type": "__class__"},
    "channel": {"type": "wake", "data": {"seq": 10**6}},
    "nul": {"type": "message.send", "data": {"conversation_id": 1, "body": "a\x00b"}},
    "surrogate": {"type": "message.send", "data": {"conversation_id": 1, "body": "\ud800"}},
    "boolean id": {"type": "message.send", "data": {"conversation_id": True, "body": "x"}},
    "text id": {"type": "message.send", "data": {"conversation_id": "1", "body": "x"}},
    "float id": {"type": "message.delete", "data": {"message_id": 1.0}},
    "huge id": {"type": "message.delete", "data": {"message_id": 10**40}},
    "negative id": {"type": "conversation.read", "data": {"conversation_id": -1}},
    "no data": {"type": "message.send"},
    "object as text": {"type": "message.send", "data": {"conversation_id": 1, "body": {"$ne": 1}}},
    "resume without a place": {"type": "resume", "data": {}},
    "resume without its epoch": {"type": "resume", "data": {"seq": 1}},
    "resume with an empty epoch": {"type": "resume", "data": {"epoch": "", "seq": 1}},
    "resume in auth without its epoch": {"type": "auth", "data": {"token": "x", "resume": {"seq": 1}}},
    "resume before the start": {"type": "resume", "data": {"epoch": "x", "seq": -1}},
    "resume with a boolean": {"type": "resume", "data": {"epoch": "x", "seq": True}},
    "ack of nothing": {"type": "ack", "data": {}},
    "ack of text": {"type": "ack", "data": {"seq": "5"}},
    "auth without a token": {"type": "auth", "data": {}},
    "auth with a number": {"type": "auth", "data": {"token": 5}},
}


@pytest.fixture
def phone(open_socket, alice):
    return open_socket(sign_in(alice)[1])


def is_alive(phone):
    phone.send("ping")
    return phone.expect("pong")["data"].keys() == {"seq"}


def test_frames_that_are_no_commands_are_answered(phone):
    for name, text in BAD_FRAMES.items():
        phone.raw(text)
        reply = phone.expect("reply")
        assert (reply["ok"], reply["error"]) == (False, "parse_error"), name
        assert reply["ref"] == ("1" if '"ref": "1"' in text else None), name
        assert reply["message"], name
    assert is_alive(phone)


def test_commands_with_wrong_data_are_answered(phone):
    for name, frame in BAD_COMMANDS.items():
        phone.raw(json.dumps(frame | {"ref": name}))
        reply = phone.reply(name)
        assert (reply["ok"], reply["error"]) == (False, "validation_error"), name
        assert all(isinstance(texts, list) for texts in reply["fields"].values()), name
    assert is_alive(phone)


def test_an_error_may_quote_half_a_character(phone):
    """Every field of every command: the reply to what UTF-8 cannot encode can be encoded itself."""
    fields = [(name, field) for name, command in COMMANDS.items() for field in command.input().fields]
    fields += [
        (name, field) for name, command in OWN_COMMANDS.items() for field in command.input().fields if name != "auth"
    ]
    assert len(fields) > 25
    frames_sent = [{"type": "\ud800"}, {"type": "ping", "data": {"\ud800": "\ud800"}}]
    frames_sent += [{"type": name, "data": {field: "\ud800"}} for name, field in fields]
    for number, frame in enumerate(frames_sent):
        phone.raw(json.dumps(frame | {"ref": number}))
        if frame["type"] != "ping":
            assert phone.reply(number)["error"] in ("validation_error", "parse_error"), frame
    assert is_alive(phone)


def test_deep_data_is_either_refused_or_ignored(phone):
    phone.raw('{"type":"message.send","ref":"1","data":{"conversation_id":1,"body":' + "[" * 900 + "]" * 900 + "}}")
    assert phone.reply("1")["error"] in ("validation_error", "parse_error")
    assert is_alive(phone)


def test_exactly_65536_bytes_pass_and_one_more_does_not(open_socket, alice):
    def padded(size):
        frame = '{"type":"ping","data":{"pad":"' + "é" * 20_000 + '"}}'
        return frame[:-3] + "x" * (size - len(frame.encode())) + frame[-3:]

    phone = open_socket(sign_in(alice)[1])
    assert len(padded(65_536).encode()) == 65_536
    phone.raw(padded(65_536))
    phone.expect("pong")
    phone.raw(padded(65_537))
    assert phone.closed()[0] == 1009


def test_binary_frames_close(phone):
    phone.raw(b'{"type":"ping"}')
    assert phone.closed() == (4400, "binary")


def test_broken_utf8_closes(phone):
    payload = b'{"type":"\xff"}'
    phone.socket.socket.sendall(bytes([0x81, 0x80 | len(payload), 0, 0, 0, 0]) + payload)
    assert phone.closed()[0] == 1007


def test_a_message_in_many_fragments_is_one_frame(phone):
    phone.raw(iter(['{"type":', '"pi', 'ng"', "}"]))
    phone.expect("pong")
    phone.raw(character for character in '{"type":"ping"}'.ljust(2_000))
    phone.expect("pong")


PING_MESSAGE = bytes([0x81, 0x80 | 15, 0, 0, 0, 0]) + b'{"type":"ping"}'
PING, PONG, EMPTY_PART = (bytes([head, 0x80, 0, 0, 0, 0]) for head in (0x89, 0x8A, 0x00))


@pytest.mark.parametrize("frame", [PING, PONG, EMPTY_PART], ids=["ping", "pong", "part"])
def test_a_flood_of_frames_that_are_no_messages_is_cut(phone, frame):
    """100,000 of them are a few hundred kilobytes, and keep the event loop busy for seconds."""
    flood = (bytes([0x01, 0x80, 0, 0, 0, 0]) if frame is EMPTY_PART else b"") + frame * 100_000
    with suppress(OSError):  # closed meanwhile
        phone.socket.socket.sendall(flood)
    code, _reason = phone.closed()
    assert code in (4429, None)  # a reset, when the close frame meets the rest of the flood


def test_a_flood_of_messages_is_cut_before_all_of_it_is_read(live, open_socket, monkeypatch):
    """Without a sign-in, too: a client that goes on after the close kept the event loop busy for seconds."""
    read = []
    handle_text = RestartingWebSocket.handle_text
    monkeypatch.setattr(
        RestartingWebSocket, "handle_text", lambda self, event: (read.append(1), handle_text(self, event))
    )
    unsigned = open_socket()
    with suppress(OSError):  # closed meanwhile
        for _ in range(30):
            unsigned.socket.socket.sendall(bytes([0x81, 0x80, 0, 0, 0, 0]) * 10_000)
    unsigned.closed()
    assert len(read) < 10_000


@pytest.mark.parametrize("messages", [MESSAGES_READ_AHEAD - 1, MESSAGES_READ_AHEAD])
def test_reading_stops_while_several_messages_wait_and_starts_again(live, phone, messages):
    [protocol] = only_protocol(live)
    is_reading: Queue[bool] = Queue()

    def read_at_once():
        protocol.data_received(PING_MESSAGE * messages)
        is_reading.put(protocol.transport.is_reading())

    protocol.loop.call_soon_threadsafe(read_at_once)
    assert is_reading.get(timeout=5) is (messages < MESSAGES_READ_AHEAD)
    for _ in range(messages):
        phone.expect("pong")
    phone.send("ping")
    phone.expect("pong")


def test_to_a_client_that_does_not_read_few_answers_to_pings_are_kept(live, alice):
    deaf = open_deaf(live, sign_in(alice)[1])
    time.sleep(1)
    [protocol] = only_protocol(live)
    ping = bytes([0x89, 0x80 | 125, 0, 0, 0, 0]) + b"p" * 125
    protocol.pause_writing()
    deaf.sendall(ping * 3_000)
    time.sleep(1)
    assert protocol.transport.get_write_buffer_size() == 0
    assert 0 < len(protocol.pending_pongs) < 8192
    deaf.close()


def test_a_flood_that_ends_with_a_close_frame_leaves_no_error(phone, caplog):
    """They arrive together: the connection is already closing when the frame beyond the limit is counted."""
    close = bytes([0x88, 0x82, 0, 0, 0, 0]) + (1000).to_bytes(2)
    with suppress(OSError):
        phone.socket.socket.sendall(PING * 4_050 + close)
    phone.closed()
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


def test_empty_parts_of_a_message_are_not_kept(live, phone):
    [protocol] = only_protocol(live)
    phone.socket.socket.sendall(bytes([0x01, 0x80, 0, 0, 0, 0]) + EMPTY_PART * 1_000)
    time.sleep(0.5)
    assert len(protocol.frames) < 10
    phone.socket.socket.sendall(bytes([0x80, 0x80 | 15, 0, 0, 0, 0]) + b'{"type":"ping"}')
    phone.expect("pong")


def test_bad_frames_without_end_close(phone, settings):
    with pytest.raises(ConnectionClosed) as closed:
        for _ in range(80):
            phone.raw("{")
            phone.expect("reply")
    assert closed.value.rcvd.code == 4400


def test_a_flood_of_commands_is_cut(open_socket, alice):
    phone = open_socket(sign_in(alice)[1])
    try:
        for _ in range(3_000):
            phone.send("ping")
    except ConnectionClosed:
        pass
    assert phone.closed(30) == (4429, "flooding")


def test_commands_beyond_the_rate_are_refused_and_later_ones_pass(open_socket, alice, settings):
    settings.RATELIMIT_ENABLE = True
    settings.REALTIME_COMMANDS_BURST = 5
    settings.REALTIME_COMMANDS_PER_SECOND = 2
    phone = open_socket(sign_in(alice)[1])
    replies = [phone.command("conversation.read", conversation_id=1) for _ in range(7)]
    refused = [reply for reply in replies if reply["error"] == "rate_limited"]
    assert refused and all(reply["retry_after"] >= 1 for reply in refused)
    assert replies[0]["error"] == "conversation_not_found"
    time.sleep(1.5)
    assert phone.command("conversation.read", conversation_id=1)["error"] == "conversation_not_found"


@pytest.mark.parametrize("path", ["/", "/api/v1/realtimes", "/api/v1/realtime/", "/api/v1/realtime/x", "/ws", "/%00"])
def test_other_paths_are_refused(open_socket, live, path):
    with pytest.raises(InvalidHandshake) as refused:
        open_socket(url=live.url.replace(PATH, path))
    assert refused.value.response.status_code in (403, 404)


def test_half_a_handshake_leaves_other_sockets_open(live, open_socket, alice):
    for start in (b"", b"GET ", b"GET /api/v1/realtime HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", b"\x00\xff" * 500):
        with sockets.create_connection(("127.0.0.1", live.port), timeout=5) as raw:
            raw.sendall(start)
    assert open_socket(sign_in(alice)[1]).ready


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_a_number_that_is_none_is_refused_and_never_written(number):
    with pytest.raises(protocol.BadFrame):
        protocol.read('{"type":"call.signal","data":{"payload":{"x":' + number + "}}}")
    with pytest.raises(ValueError):
        protocol.write({"type": "call.signal", "data": {"x": float(number)}})
