"""The SDK with a server that is newer: it sends codes, kinds, fields and events that the SDK does not know."""

import json
from pathlib import Path

import pytest

from tests.node import needs_node

pytestmark = [pytest.mark.once, needs_node, pytest.mark.timeout(300)]
NEWER = json.loads((Path(__file__).with_name("flows") / "newer.json").read_text(encoding="utf-8"))


def test_unknown_events_are_passed_on_acknowledged_and_lose_nothing(people, bob, server):
    """Every second message arrives as an event of a type that is not known yet, with its number."""
    assert people.run(f"""
      let count = 0;
      const change = (frame) => {{
        if (frame.type === "typing") return [];
        if (frame.type !== "message.new") return [frame, {{ type: "weather", data: {{ sky: "blue" }}, shard: 2 }}];
        count += 1;
        return count % 2 ? [frame] : [{{ ...frame, type: "poll.opened", data: {{ poll_id: 6 }}, shard: 2 }}];
      }};
      state.odd = make({{ baseUrl: "{server.base}", name: "newer", change }});
      await state.odd.auth.login({{ email: "{bob}", password: "a long word for scripts" }});
      state.odd.connect();
      await until(() => state.odd.status === "online");
      for (let number = 0; number < 6; number += 1) {{
        await state.alice.messages.send({{ conversation_id: state.talk, body: String(number) }});
      }}
      const numbered = () => state.odd.events.filter(({{ seq, name }}) => seq && ["message.new", "poll.opened"].includes(name));
      await until(() => numbered().length === 6);
      const [first] = numbered();
      await until(() => state.odd.sent.some(({{ type, data }}) => type === "ack" && data.seq >= first.seq + 5), 20);
      const resumes = state.odd.sent.filter(({{ type }}) => type === "resume").length;
      return [numbered().map(({{ name }}) => name), resumes, state.odd.status];
    """) == [["message.new", "poll.opened"] * 3, 0, "online"]


def test_unknown_codes_kinds_and_fields_reach_the_caller(people, bob, server):
    assert people.run(f"""
      const newer = {json.dumps(NEWER)};
      const answers = {{
        "/messages": [200, {{ ok: true, messages: [newer.message], has_more: false, shards: [1] }}],
        "/notifications": [200, {{ ok: true, notifications: [newer.notification], has_more: false, next_cursor: null, unread_count: 1 }}],
        "/read": [418, newer.error],
      }};
      const fetch = async (url, options) => {{
        const found = Object.keys(answers).find((end) => new URL(url).pathname.endsWith(end));
        if (!found) return globalThis.fetch(url, options);
        const [status, body] = answers[found];
        return new Response(JSON.stringify(body), {{ status, headers: {{ "Content-Type": "application/json" }} }});
      }};
      const client = make({{ baseUrl: "{server.base}", name: "unknown", fetch }});
      await client.auth.login({{ email: "{bob}", password: "a long word for scripts" }});
      const {{ messages }} = await client.messages.list({{ conversation_id: state.talk }});
      const {{ notifications }} = await client.notifications.list();
      const error = await client.messages.markRead({{ conversation_id: state.talk }}).catch((error) => error);
      return [messages[0].kind, messages[0].call.outcome, notifications[0].type, error.code, error.status, error.isTemporary];
    """) == ["poll", "diverted", "badge_won", "poll_closed", 418, False]


def test_unknown_events_of_calls_leave_the_client_as_it_is(people, bob, server):
    """An unknown event, a signal of an unknown kind, an unknown outcome, and new fields."""
    assert people.run(f"""
      const newer = {json.dumps(NEWER)};
      let isSent = false;
      const change = (frame) => {{
        if (frame.type !== "message.new" || isSent) return [frame];
        isSent = true;
        return [...newer.frames.filter(({{ seq }}) => !seq), {{ ...newer.frames[3], seq: frame.seq, at: frame.at }}];
      }};
      state.late = make({{ baseUrl: "{server.base}", name: "calls", change }});
      await state.late.auth.login({{ email: "{bob}", password: "a long word for scripts" }});
      const rung = [];
      state.late.on("call", (call) => rung.push(call.id));
      await state.late.store.calls.load();
      state.late.connect();
      await until(() => state.late.status === "online");
      await state.alice.messages.send({{ conversation_id: state.talk, body: "in place of the frames" }});
      await until(() => state.late.events.some(({{ name }}) => name === "call.updated"));
      await state.alice.messages.send({{ conversation_id: state.talk, body: "after them" }});
      await until(() => state.late.events.some(({{ name }}) => name === "message.new"));
      const heard = state.late.events.map(({{ name }}) => name).filter((name) => name.startsWith("call."));
      const [call] = state.late.store.calls.getSnapshot().calls;
      return [heard, call.id, call.outcome, call.codec, state.late.status, rung];
    """) == [["call.ringing", "call.signal", "call.paused", "call.updated"], 4, "diverted", "opus", "online", []]
