"""Where an app meets the limits of the SDK: platforms, storages, servers that do not answer, handlers that fail."""

import pytest

from tests.node import needs_node
from tests.sdk.conftest import PASSWORD

pytestmark = [pytest.mark.once, needs_node, pytest.mark.timeout(300)]


def test_the_constructor_says_what_is_missing(node):
    assert node.run("""
      const said = (options) => {
        try {
          new sdk.Parley(options);
          return null;
        } catch (error) {
          return [error.constructor.name, error.message.split(" ").slice(0, 5).join(" ")];
        }
      };
      const { WebSocket } = globalThis;
      const texts = [said({}), said({ baseUrl: "chat.example.com" })];
      delete globalThis.WebSocket;
      texts.push(said({ baseUrl: "https://chat.example.com" }), said({ baseUrl: "https://chat.example.com", WebSocket: null }));
      globalThis.WebSocket = WebSocket;
      texts.push(said({ baseUrl: "https://chat.example.com", fetch: null }));
      return texts;
    """) == [
        ["TypeError", "Parley needs the address of"],
        ["TypeError", "Parley needs the address of"],
        ["TypeError", "Parley needs WebSocket: Node 22"],
        None,
        ["TypeError", "Parley needs fetch, which this"],
    ]


def test_a_storage_whose_methods_return_promises(node, server, mail_sink, alice):
    assert node.run(f"""
      const rows = new Map([["other", "stays"]]);
      const later = (value) => new Promise((resolve) => setTimeout(() => resolve(value), 5));
      const storage = {{
        getAllKeys: () => later([...rows.keys()]),
        getItem: (key) => later(rows.get(key) ?? null),
        setItem: (key, value) => later().then(() => void rows.set(key, value)),
        removeItem: (key) => later().then(() => void rows.delete(key)),
      }};
      const first = make({{ baseUrl: "{server.base}", storage: await sdk.openStorage(storage) }});
      await first.auth.login({{ email: "{alice}", password: "{PASSWORD}" }});
      first.outbox.remove("none");
      const own = await sdk.openStorage(storage);
      await until(() => rows.has("parley.session"));
      first.close();
      const mirror = await sdk.openStorage(storage);
      const second = make({{ baseUrl: "{server.base}", storage: mirror }});
      const {{ user }} = await second.auth.me();
      await second.session.signOut();
      await mirror.flush();
      return [user.email, own.length, [...rows.keys()].sort()];
    """) == [alice, 0, ["other", "parley.ended"]]


def test_a_read_without_an_answer_ends(node, alice, server):
    assert node.run("""
      const never = (url, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      const client = make({ baseUrl: state.alice.baseUrl, fetch: never, timeout: 300 });
      const begin = performance.now();
      const error = await client.rest.call("messages_list_conversations", {}, { token: "any", retry: 1 }).catch((reason) => reason);
      return [error.code, performance.now() - begin < 5000];
    """) == ["network_error", True]


def test_handlers_are_waited_for_and_a_failure_loses_nothing(people, bob, server):
    """The first handler takes its time, the second one fails at first; each gets every event, in order."""
    assert people.run(f"""
      const client = make({{ baseUrl: "{server.base}", name: "handlers" }});
      await client.auth.login({{ email: "{bob}", password: "{PASSWORD}" }});
      const [slow, failing, acknowledged] = [[], [], []];
      let failures = 0;
      const report = globalThis.reportError;
      const reports = [];
      globalThis.reportError = (error) => reports.push(error.message);
      client.on("message.new", async ({{ message }}, {{ seq }}) => {{
        await new Promise((resolve) => setTimeout(resolve, 100));
        slow.push(message.body);
        acknowledged.push(client.sent.some(({{ type, data }}) => type === "ack" && data.seq >= seq));
      }});
      client.on("message.new", ({{ message }}) => {{
        if (message.body === "second" && (failures += 1) <= 2) throw new Error("not now");
        failing.push(message.body);
      }});
      client.connect();
      await until(() => client.status === "online");
      for (const body of ["first", "second", "third"]) await state.alice.messages.send({{ conversation_id: state.talk, body }});
      await until(() => slow.length === 3 && failing.length === 3);
      const {{ seq }} = await until(() => client.sent.find(({{ type, data }}) => type === "ack" && data.seq === client.place.seq)?.data);
      globalThis.reportError = report;
      return [slow, failing, reports, acknowledged, seq > 0];
    """) == [["first", "second", "third"], ["first", "second", "third"], ["not now", "not now"], [False] * 3, True]


def test_an_sdk_that_is_older_than_its_server_says_so_once(people):
    assert people.run("""
      const texts = [];
      const warn = console.warn;
      console.warn = (text) => texts.push(text);
      const later = sdk.Parley.version.replace(/^(\\d+)\\.(\\d+)/, (_, major, minor) => `${major}.${Number(minor) + 1}`);
      const change = (frame) => [frame.type === "ready" ? { ...frame, data: { ...frame.data, version: later } } : frame];
      for (const options of [{ change }, {}]) {
        const client = make({ baseUrl: state.alice.baseUrl, name: "old", ...options });
        client.session.follow("auth_login", { token: state.alice.session.token, user: state.alice.session.user });
        client.connect();
        await until(() => client.status === "online");
        client.cut();
        await until(() => client.status !== "online");
        await until(() => client.status === "online");
        client.close();
      }
      console.warn = warn;
      return [texts.length, texts[0].includes(`/sdk/parley-${later}.tgz`)];
    """) == [1, True]
