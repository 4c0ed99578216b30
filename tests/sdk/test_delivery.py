"""Messages and events over the SDK: nothing lost, nothing doubled, in order."""

import pytest

from tests.node import needs_node
from tests.sdk.conftest import PASSWORD

pytestmark = [pytest.mark.once, needs_node, pytest.mark.timeout(300)]

BOTH_ONLINE = """
  for (const client of [state.alice, state.bob]) client.connect();
  await until(() => state.alice.status === "online" && state.bob.status === "online");
"""
# What Bob's handlers heard, without what was repeated.
BODIES = """
  const bodies = (client) => client.events.filter(({ name }) => name === "message.new").map(({ data }) => data.message.body);
  const seqs = (client) => client.events.map(({ seq }) => seq).filter(Boolean);
  const isGapless = (client) => seqs(client).every((seq, index, all) => index === 0 || seq === all[index - 1] + 1);
"""


def test_messages_wait_while_the_server_is_dead_and_go_out_once_in_order(people, server):
    people.run(BOTH_ONLINE)
    for round_number in range(2):
        server.kill()
        people.run(f"""
          for (let number = 0; number < 10; number += 1) {{
            state.alice.outbox.send({{ conversation_id: state.talk, body: "{round_number}-" + number }});
          }}
          await until(() => state.alice.status !== "online" && state.bob.status !== "online");
        """)
        waiting = people.run("return state.alice.outbox.items().map(({ body }) => body)")
        assert waiting == [f"{round_number}-{number}" for number in range(10)]
        server.start()
        people.run("await until(() => state.alice.outbox.items().length === 0 && state.bob.status === 'online', 90)")
    expected = [f"{round_number}-{number}" for round_number in range(2) for number in range(10)]
    people.run(f"{BODIES} await until(() => bodies(state.bob).length >= 20 && bodies(state.alice).length >= 20, 60)")
    assert people.run(f"{BODIES} return [bodies(state.bob), isGapless(state.bob), isGapless(state.alice)]") == [
        expected,
        True,
        True,
    ]
    stored = people.run("""
      const { messages } = await state.bob.messages.list({ conversation_id: state.talk, limit: 100 });
      return messages.map(({ body }) => body).reverse();
    """)
    assert stored == expected


def test_a_lost_answer_does_not_double_a_message(people, alice, server):
    """Every first request reaches the server, and its answer never arrives."""
    assert people.run(f"""
      let asked = 0;
      const lossy = async (url, options) => {{
        const answer = await fetch(url, options);
        if (!url.endsWith("/messages") || options.method !== "POST") return answer;
        asked += 1;
        if (asked % 2 === 1) throw new TypeError("the connection was lost");
        return answer;
      }};
      const client = make({{ baseUrl: "{server.base}", fetch: lossy }});
      await client.auth.login({{ email: "{alice}", password: "{PASSWORD}" }});
      for (const body of ["one", "two"]) client.outbox.send({{ conversation_id: state.talk, body }});
      await until(() => client.outbox.items().length === 0);
      const {{ messages }} = await client.messages.list({{ conversation_id: state.talk }});
      const sent = client.events.filter(({{ name }}) => name === "outbox.sent").length;
      return [messages.map(({{ body }}) => body), asked, sent];
    """) == [["two", "one"], 4, 2]


def test_doubled_and_dropped_frames_change_nothing(people, bob, server):
    """Bob hears every third event twice, and every fifth number not at all the first time."""
    people.run(f"""
      const dropped = new Set();
      const change = (frame) => {{
        if (!frame.seq) return [frame];
        if (frame.seq % 5 === 0 && !dropped.has(frame.seq)) {{
          dropped.add(frame.seq);
          return [];
        }}
        return frame.seq % 3 === 0 ? [frame, frame] : [frame];
      }};
      state.odd = make({{ baseUrl: "{server.base}", name: "odd", change }});
      await state.odd.auth.login({{ email: "{bob}", password: "{PASSWORD}" }});
      state.odd.connect();
      await until(() => state.odd.status === "online");
      for (let number = 0; number < 40; number += 1) {{
        await state.alice.messages.send({{ conversation_id: state.talk, body: String(number) }});
      }}
      // The last event may be the dropped one: the next says so.
      await state.alice.messages.send({{ conversation_id: state.talk, body: "end" }});
      await until(() => state.odd.events.some(({{ data }}) => data?.message?.body === "38"), 60);
    """)
    result = people.run(f"""
      {BODIES}
      const resumes = state.odd.sent.filter(({{ type }}) => type === "resume").length;
      return {{ bodies: bodies(state.odd), gapless: isGapless(state.odd), resumes }};
    """)
    assert result["bodies"][:39] == [str(number) for number in range(39)]
    assert result["gapless"] is True
    assert result["resumes"] >= 3


def test_a_message_that_is_refused_fails_and_the_next_goes_on(people):
    assert people.run("""
      const { alice, bob, talk } = state;
      await bob.profile.blocksAdd({ user_id: alice.session.userId });
      alice.outbox.send({ conversation_id: talk, body: "not now" });
      const [failed] = await until(() => {
        const items = alice.outbox.items(talk);
        return items[0]?.state === "failed" && items;
      });
      await bob.profile.blocksRemove({ user_id: alice.session.userId });
      alice.outbox.send({ conversation_id: talk, body: "second" });
      await until(() => alice.outbox.items().length === 1);
      alice.outbox.retry(failed.client_id);
      await until(() => alice.outbox.items().length === 0);
      const { messages } = await alice.messages.list({ conversation_id: talk });
      return [failed.error.code, messages.map(({ body }) => body)];
    """) == ["user_blocked", ["not now", "second"]]


def test_unsent_messages_outlive_a_reload_but_not_a_sign_out(people, server):
    server.kill()
    assert people.run(f"""
      const rows = new Map();
      const storage = {{
        get length() {{ return rows.size; }},
        key: (index) => [...rows.keys()][index] ?? null,
        getItem: (key) => rows.get(key) ?? null,
        setItem: (key, value) => rows.set(key, value),
        removeItem: (key) => rows.delete(key),
      }};
      storage.setItem("parley.session", JSON.stringify({{ token: state.alice.session.token, user: state.alice.session.user }}));
      const first = make({{ baseUrl: "{server.base}", storage }});
      first.outbox.send({{ conversation_id: state.talk, body: "kept" }});
      first.close();
      state.storage = storage;
      state.second = make({{ baseUrl: "{server.base}", storage }});
      state.second.connect();
      return state.second.outbox.items().map(({{ body, state }}) => [body, state]);
    """) == [["kept", "waiting"]]
    server.start()
    people.run("await until(() => state.second.outbox.items().length === 0, 60)")
    server.kill()
    assert people.run("""
      state.second.outbox.send({ conversation_id: state.talk, body: "secret" });
      await state.second.session.signOut();
      return Array.from({ length: state.storage.length }, (_, index) => state.storage.key(index));
    """) == ["parley.ended"]
    server.start()


def test_a_new_log_asks_for_a_reload(people, server):
    """The place of another epoch, as after a restored backup."""
    assert people.run("""
      const { alice } = state;
      alice.connect({ epoch: "older", seq: 3 });
      const { data } = await until(() => alice.events.find(({ name }) => name === "reload"));
      await state.bob.messages.send({ conversation_id: state.talk, body: "on we go" });
      await until(() => alice.events.some(({ name }) => name === "message.new"));
      return [data.reason, alice.place.epoch !== "older"];
    """) == ["epoch", True]


def test_typing_presence_receipts_and_images(people):
    result = people.run(f"""
      {BOTH_ONLINE}
      const {{ alice, bob, talk }} = state;
      await alice.messages.send({{ conversation_id: talk, body: "hello" }});
      const heard = (client, name, test = () => true) =>
        until(() => client.events.find((event) => event.name === name && test(event.data)));
      const delivered = await heard(alice, "conversation.delivered");
      await bob.messages.markRead({{ conversation_id: talk }});
      await heard(alice, "conversation.read");
      const off = alice.presence.watch([bob.session.userId]);
      await until(() => alice.presence.get(bob.session.userId)?.online);
      for (let key = 0; key < 20; key += 1) bob.typing(talk);
      await heard(alice, "typing", (data) => data.is_typing);
      const notices = bob.sent.filter(({{ type }}) => type === "typing").length;
      await heard(alice, "typing", (data) => !data.is_typing);
      const pixel = Uint8Array.from(atob("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"), (c) => c.charCodeAt(0));
      const item = alice.outbox.sendImage({{ conversation_id: talk, file: new Blob([pixel], {{ type: "image/gif" }}) }});
      await until(() => alice.outbox.items().length === 0);
      const {{ data }} = await heard(bob, "message.new", (data) => data.message.kind === "image");
      const image = await fetch(bob.mediaUrl(data.message.media_url));
      const share = (show_last_seen) => bob.profile.privacySet({{ show_last_seen }});
      await share(false);
      await until(() => !alice.presence.get(bob.session.userId).online);
      await share(true);
      await until(() => alice.presence.get(bob.session.userId).online);
      alice.disconnect();
      await share(false);
      alice.connect();
      await until(() => alice.status === "online" && !alice.presence.get(bob.session.userId).online);
      await share(true);
      await until(() => alice.presence.get(bob.session.userId).online);
      bob.disconnect();
      await until(() => !alice.presence.get(bob.session.userId).online);
      off();
      return {{ delivered: delivered.data.user_id === bob.session.userId, notices, image: image.status, hasFile: item.file.size }};
    """)
    assert result == {"delivered": True, "notices": 1, "image": 200, "hasFile": 42}


def test_a_message_sent_again_after_errors_of_the_server_has_as_many_tries_as_before(people, alice, server):
    assert people.run(f"""
      let asked = 0;
      const failing = async (url, options) => {{
        if (!url.endsWith("/messages") || options.method !== "POST") return fetch(url, options);
        asked += 1;
        if (asked === 10) return fetch(url, options);
        const body = {{ ok: false, error: "server_error", message: "Later.", retry_after: 0.01 }};
        return new Response(JSON.stringify(body), {{ status: 500, headers: {{ "Content-Type": "application/json" }} }});
      }};
      const client = make({{ baseUrl: "{server.base}", fetch: failing }});
      await client.auth.login({{ email: "{alice}", password: "{PASSWORD}" }});
      const {{ client_id }} = client.outbox.send({{ conversation_id: state.talk, body: "again" }});
      await until(() => client.outbox.items()[0].state === "failed");
      const before = asked;
      client.outbox.retry(client_id);
      await until(() => asked > before && ["failed", undefined].includes(client.outbox.items()[0]?.state));
      return [before, asked, client.outbox.items().length];
    """) == [8, 10, 0]


def test_a_message_whose_request_gets_no_reply_is_sent_again(people, alice, server):
    assert people.run(f"""
      let asked = 0;
      const silentAtFirst = (url, options) => {{
        if (!url.endsWith("/messages") || options.method !== "POST" || (asked += 1) > 1) return fetch(url, options);
        return new Promise((_, reject) => options.signal.addEventListener("abort", () => reject(options.signal.reason)));
      }};
      const client = make({{ baseUrl: "{server.base}", fetch: silentAtFirst, timeout: 2000 }});
      await client.auth.login({{ email: "{alice}", password: "{PASSWORD}" }});
      client.connect();
      await until(() => client.status === "online");
      for (const body of ["stuck", "behind it"]) client.outbox.send({{ conversation_id: state.talk, body }});
      await until(() => client.outbox.items().length === 0);
      const listed = await client.messages.list({{ conversation_id: state.talk, limit: 2 }});
      const signal = AbortSignal.abort();
      const refused = await client.messages.send({{ conversation_id: state.talk, body: "no" }}, {{ signal }}).catch((error) => error.code);
      return [listed.messages.map((row) => row.body), refused];
    """) == [["behind it", "stuck"], "aborted"]


def test_events_go_on_after_a_resume_that_is_refused(people, bob, server):
    """One event gets lost, and the server refuses to send it again."""
    people.run(f"""
      let isLost = false;
      const change = (frame) => {{
        const isFirst = !isLost && frame.data?.message?.body === "first";
        isLost ||= isFirst;
        return isFirst ? [] : [frame];
      }};
      const {{ send }} = WebSocket.prototype;
      let isRefused = false;
      WebSocket.prototype.send = function (text) {{
        const frame = JSON.parse(text);
        const isWrong = isLost && !isRefused && frame.type === "resume";
        isRefused ||= isWrong;
        send.call(this, isWrong ? JSON.stringify({{ ...frame, data: {{}} }}) : text);
      }};
      const client = make({{ baseUrl: "{server.base}", name: "unlucky", change }});
      await client.auth.login({{ email: "{bob}", password: "{PASSWORD}" }});
      client.connect();
      await until(() => client.status === "online");
      {BODIES}
      for (const body of ["first", "second", "third"]) await state.alice.messages.send({{ conversation_id: state.talk, body }});
      await until(() => bodies(client).includes("third"));
      if (!isRefused || String(bodies(client)) !== "first,second,third") throw new Error(bodies(client));
    """)


def test_after_a_gap_what_was_delivered_meanwhile_is_told(people):
    """A sends and goes away; B receives; A comes back, and loads nothing by itself."""
    people.run("""
      state.bob.connect();
      await until(() => state.bob.status === "online");
      state.alice.connect();
      await until(() => state.alice.status === "online");
      const sent = await state.alice.messages.send({ conversation_id: state.talk, body: "first" });
      await until(() => state.alice.events.some(({ name }) => name === "conversation.delivered"));
      state.bob.disconnect();
      state.second = (await state.alice.messages.send({ conversation_id: state.talk, body: "second" })).message.id;
      await until(() => state.alice.place.seq === state.alice.events.filter(({ seq }) => seq).at(-1).seq);
      state.alice.disconnect();
      state.bob.connect();
      await until(async () => {
        const { conversation } = await state.alice.messages.getConversation({ conversation_id: state.talk });
        return conversation.other_delivered_id === state.second;
      });
      state.alice.events.length = 0;
      state.alice.connect();
    """)
    assert people.run("""
      const told = await until(() => state.alice.events.find(({ name }) => name === "conversation.delivered"));
      const { conversation_id, user_id, delivered_id } = told.data;
      const reloads = state.alice.events.filter(({ name }) => name === "reload").length;
      return [conversation_id === state.talk, user_id === state.bob.session.userId, delivered_id === state.second, reloads];
    """) == [True, True, True, 0]


def test_the_number_comes_again_after_a_gap(people):
    people.run("""
      state.bob.connect();
      await until(() => state.bob.status === "online");
      await state.alice.messages.send({ conversation_id: state.talk, body: "one" });
      await until(() => state.bob.events.some(({ name, data }) => name === "badge" && data.message_unread_count === 1));
      state.bob.disconnect();
      state.bob.events.length = 0;
      state.bob.connect();
    """)
    assert (
        people.run("""
      const told = await until(() => state.bob.events.find(({ name }) => name === "badge"));
      return told.data.message_unread_count;
    """)
        == 1
    )


def test_what_waits_goes_with_a_session_that_is_ended_elsewhere(people, alice, server):
    """The outbox of a lost laptop: without a connection when the owner ends its sign-in, and on line again later."""
    assert people.run(f"""
      state.isDown = false;
      const failing = (...request) => (state.isDown ? Promise.reject(new TypeError("no network")) : fetch(...request));
      state.lost = make({{ baseUrl: "{server.base}", name: "lost", fetch: failing }});
      await state.lost.auth.login({{ email: "{alice}", password: "{PASSWORD}" }});
      state.isDown = true;
      state.lost.outbox.send({{ conversation_id: state.talk, body: "not to be found" }});
      await until(() => state.lost.outbox.items().length === 1);
      await state.alice.auth.sessionsEndOthers();
      state.isDown = false;
      await state.lost.profile.get().catch(() => {{}});
      const ends = state.lost.events.filter(({{ name }}) => name === "signedout").map(({{ data }}) => data);
      return [ends, state.lost.outbox.items().length];
    """) == [[{"reason": "token_revoked", "forget": True}], 0]
