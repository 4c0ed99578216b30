"""The SDK's store: what it shows before, while and after something is loaded or sent."""

import pytest

from tests.node import needs_node
from tests.sdk.conftest import PASSWORD, likes, manage

pytestmark = [pytest.mark.once, needs_node, pytest.mark.timeout(300)]


@pytest.fixture
def talk(people):
    """Both are on line, with five messages of Alice, and Bob's store has loaded all there is."""
    people.run("""
      for (const client of [state.alice, state.bob]) client.connect();
      await until(() => state.alice.status === "online" && state.bob.status === "online");
      for (let number = 0; number < 5; number += 1)
        await state.alice.messages.send({ conversation_id: state.talk, body: `text ${number}` });
      const { conversations, notifications, unread } = state.bob.store;
      state.list = state.bob.store.messages(state.talk);
      await Promise.all([conversations.load(), notifications.load(), unread.load(), state.list.load()]);
      await until(() => state.bob.store.unread.getSnapshot().message_unread_count === 5);
      state.bodies = (client) => client.store.messages(state.talk).getSnapshot().messages?.map(({ body }) => body) ?? null;
    """)
    return people


def test_nothing_is_shown_until_it_was_loaded(people):
    assert people.run("""
      const { store } = state.alice;
      const list = store.messages(state.talk);
      const before = [list.getSnapshot(), store.conversations.getSnapshot(), store.notifications.getSnapshot()];
      const loading = list.load();
      const { isLoading } = list.getSnapshot();
      await Promise.all([loading, list.load()]);
      return [before.map(({ messages, conversations, notifications }) => messages ?? conversations ?? notifications ?? null),
        isLoading, list.getSnapshot().isLoading, list.getSnapshot().messages, store.unread.getSnapshot(), store.typing(1).getSnapshot(),
        store.presence(1).getSnapshot(), store.outbox.getSnapshot(), store.calls.getSnapshot().current];
    """) == [
        [None, None, None],
        True,
        False,
        [],
        {"unread_count": 0, "message_unread_count": 0},
        [],
        None,
        [],
        None,
    ]


def test_what_did_not_change_keeps_its_reference(talk):
    assert talk.run("""
      const { store } = state.bob;
      const before = store.getSnapshot();
      let told = 0;
      const offs = [store.conversations, store.notifications, store.unread].map((part) => part.subscribe(() => (told += 1)));
      const first = state.list.select(({ messages }) => messages[0]);
      let firstChanged = 0;
      offs.push(first.subscribe(() => (firstChanged += 1)));
      const { id } = before.messages[state.talk].messages[4];
      await state.alice.messages.react({ message_id: id, emoji: "👍" });
      await until(() => state.list.getSnapshot().messages[4].reactions.length === 1);
      const after = store.getSnapshot();
      const [one, other] = [before, after].map((all) => all.messages[state.talk].messages);
      await state.bob.store.conversations.load();
      for (const off of offs) off();
      return [one.map((message, index) => message === other[index]), before.conversations === after.conversations,
        before.notifications === after.notifications, before === after, store.getSnapshot() === store.getSnapshot(), told, firstChanged];
    """) == [[True, True, True, True, False], True, True, False, True, 0, 0]


def test_waiting_and_failed_messages_stand_at_the_end(talk, server):
    server.kill()
    assert talk.run("""
      await until(() => state.bob.status !== "online");
      const quoted = state.list.getSnapshot().messages[0].id;
      state.bob.outbox.send({ conversation_id: state.talk, body: "waits", reply_to_id: quoted });
      const { id, state: isState, reply_to, sender_id } = state.list.getSnapshot().messages.at(-1);
      return [state.bodies(state.bob).at(-1), id, ["waiting", "sending"].includes(isState), reply_to.body, sender_id === state.bob.session.userId];
    """) == ["waits", None, True, "text 0", True]
    server.start()
    assert talk.run("""
      await until(() => state.bob.outbox.items().length === 0, 60);
      const sent = state.list.getSnapshot().messages.at(-1);
      await until(() => state.bob.status === "online");
      await state.alice.profile.blocksAdd({ user_id: state.bob.session.userId });
      state.bob.outbox.send({ conversation_id: state.talk, body: "refused" });
      await until(() => state.list.getSnapshot().messages.at(-1).state === "failed");
      const row = await until(() => state.bob.store.conversations.getSnapshot().byId[state.talk].is_blocked);
      await state.alice.profile.blocksRemove({ user_id: state.bob.session.userId });
      state.bob.outbox.retry(state.list.getSnapshot().messages.at(-1).client_id);
      await until(() => state.list.getSnapshot().messages.at(-1).id);
      await until(() => !state.bob.store.conversations.getSnapshot().byId[state.talk].is_blocked);
      return [sent.body, sent.id !== null, sent.state ?? null, row, state.bodies(state.bob)];
    """) == ["waits", True, None, True, [*(f"text {number}" for number in range(5)), "waits", "refused"]]


def test_a_message_that_comes_while_the_list_is_loaded_is_not_lost(talk, bob, server):
    """The finding: a list that takes 1.5 s, a message meanwhile, and one unread message too few for good."""
    assert talk.run(f"""
      const slow = async (url, options) => {{
        const answer = await fetch(url, options);
        if (/conversations\\?|unread-count|messages\\?/.test(url)) await new Promise((resolve) => setTimeout(resolve, 1500));
        return answer;
      }};
      const client = make({{ baseUrl: "{server.base}", name: "slow", fetch: slow }});
      await client.auth.login({{ email: "{bob}", password: "{PASSWORD}" }});
      client.connect();
      const list = client.store.messages(state.talk);
      for (const part of [client.store.conversations, list]) part.load().catch(() => {{}});
      await until(() => client.status === "online");
      await new Promise((resolve) => setTimeout(resolve, 500));
      await state.alice.messages.send({{ conversation_id: state.talk, body: "meanwhile" }});
      await until(() => client.store.conversations.getSnapshot().conversations);
      await until(() => list.getSnapshot().messages);
      await new Promise((resolve) => setTimeout(resolve, 3500));
      const [row] = client.store.conversations.getSnapshot().conversations;
      return [row.unread_count, row.last_message.body, list.getSnapshot().messages.at(-1).body, client.store.unread.getSnapshot().message_unread_count];
    """) == [6, "meanwhile", "meanwhile", 6]


def test_typing_and_presence(talk):
    assert talk.run("""
      const { store } = state.bob;
      const [typing, presence] = [store.typing(state.talk), store.presence(state.alice.session.userId)];
      const off = presence.subscribe(() => {});
      await until(() => presence.getSnapshot()?.online);
      state.alice.typing(state.talk);
      await until(() => typing.getSnapshot().length === 1);
      const isAlice = typing.getSnapshot()[0] === state.alice.session.userId;
      state.alice.typing(state.talk, false);
      await until(() => typing.getSnapshot().length === 0);
      state.bob.disconnect();
      const unknown = presence.getSnapshot();
      off();
      state.bob.connect();
      await until(() => state.bob.status === "online");
      return [isAlice, unknown];
    """) == [True, None]


def test_a_sign_out_leaves_nothing(talk):
    assert talk.run("""
      state.bob.outbox.send({ conversation_id: state.talk, body: "last" });
      await state.bob.session.signOut();
      const { conversations, unread, notifications, calls, outbox, messages } = state.bob.store.getSnapshot();
      return [conversations.conversations, conversations.byId, unread, notifications.notifications, calls.calls, outbox, messages[state.talk].messages];
    """) == [None, {}, {"unread_count": 0, "message_unread_count": 0}, None, None, [], None]


def test_what_is_elsewhere_in_the_history(talk):
    """A jump shows a stretch that does not reach the end; what waits stands at the end, so not there."""
    assert talk.run("""
      for (let number = 5; number < 120; number += 1)
        await state.alice.messages.send({ conversation_id: state.talk, body: `text ${number}` });
      const { messages } = await state.bob.messages.list({ conversation_id: state.talk, limit: 100 });
      const oldest = messages.at(-1).id;
      await until(() => state.list.getSnapshot().messages.length === 120);
      state.list.trim(50, 10);
      const trimmed = state.list.getSnapshot();
      const has = await state.list.loadAround(oldest);
      const { hasOlder, hasNewer, messages: around } = state.list.getSnapshot();
      await state.list.loadNewer();
      const end = state.list.getSnapshot();
      return [trimmed.messages.length, trimmed.hasOlder, has, hasOlder, hasNewer, around.some(({ id }) => id === oldest), end.hasNewer,
        end.messages.at(-1).body];
    """) == [10, True, True, False, True, True, False, "text 119"]


def test_a_conversation_that_is_not_in_the_list(talk):
    assert talk.run("""
      const { conversations } = state.alice.store;
      const row = await conversations.loadOne(state.talk);
      const same = await conversations.start(state.bob.session.userId);
      const isShown = same === conversations.getSnapshot().byId[state.talk];
      const gone = await conversations.loadOne(999999).catch(({ code }) => code);
      return [row.id === state.talk, isShown, conversations.getSnapshot().conversations, gone];
    """) == [True, True, None, "conversation_not_found"]


def test_a_conversation_is_started_while_the_list_is_read_anew(people):
    assert people.run("""
      const { conversations } = state.alice.store;
      const starting = conversations.start(state.bob.session.userId);
      state.alice.emit("reload", { reason: "start", seq: 0 });
      return (await starting).id === state.talk;
    """)


def test_a_page_is_there_though_the_list_is_read_anew_meanwhile(people, server):
    own, other = people.run("return [state.alice.session.userId, state.bob.session.userId]")
    manage(server, "emit_event", text=likes(own, other, range(1, 41)))
    assert people.run("""
      const { notifications } = state.alice.store;
      await notifications.load();
      const first = notifications.getSnapshot().notifications.length;
      const older = notifications.loadOlder();
      state.alice.emit("reload", { reason: "start", seq: 0 });
      await older;
      const { notifications: rows, hasMore } = notifications.getSnapshot();
      return [first, rows.length, hasMore];
    """) == [30, 40, False]


def test_what_was_seen_is_taken_off_the_counts_before_the_server_knows_it(talk):
    assert talk.run("""
      const { conversations, unread } = state.bob.store;
      const counts = () => [conversations.getSnapshot().byId[state.talk].unread_count, unread.getSnapshot().message_unread_count];
      const ids = state.list.getSnapshot().messages.map(({ id }) => id);
      const before = counts();
      state.list.see(ids[1]);
      const after = counts();
      const told = (id) => until(async () => (await state.bob.messages.getConversation({ conversation_id: state.talk })).conversation.last_read_id === id);
      await told(ids[1]);
      state.list.see(ids[3]);
      const later = counts();
      // An earlier one that is drawn once more changes nothing.
      state.list.see(ids[0]);
      const same = counts();
      await told(ids[3]);
      await until(() => conversations.getSnapshot().byId[state.talk].last_read_id === ids[3]);
      await until(() => counts().join() === "1,1");
      return [before, after, later, same, counts(), conversations.getSnapshot().conversations[0] === conversations.getSnapshot().byId[state.talk]];
    """) == [[5, 5], [3, 3], [1, 1], [1, 1], [1, 1], True]


def test_reading_messages_leaves_the_count_of_other_notifications(talk, server):
    ids = talk.run("return { alice: state.alice.session.userId, bob: state.bob.session.userId }")
    manage(server, "emit_event", text=likes(ids["bob"], ids["alice"], [1, 2]))
    assert (
        talk.run("""
      const { unread } = state.bob.store;
      await until(() => unread.getSnapshot().unread_count === 3);
      const shown = new Set();
      unread.subscribe(() => shown.add(unread.getSnapshot().unread_count));
      const last = state.list.getSnapshot().messages.at(-1).id;
      state.list.see(last);
      await until(async () => (await state.bob.messages.getConversation({ conversation_id: state.talk })).conversation.last_read_id === last);
      await until(() => unread.getSnapshot().unread_count === 2);
      await state.alice.messages.send({ conversation_id: state.talk, body: "a wake-up" });
      await until(() => state.list.getSnapshot().messages.length === 6);
      return shown.has(0);
    """)
        is False
    )


def test_what_arrives_at_the_end_of_a_view_that_follows_does_not_count(talk):
    assert talk.run("""
      const { conversations, unread } = state.bob.store;
      state.list.see(state.list.getSnapshot().messages.at(-1).id);
      await until(() => conversations.getSnapshot().byId[state.talk].last_read_id === state.list.getSnapshot().messages.at(-1).id);
      const shown = new Set();
      const note = () => shown.add(conversations.getSnapshot().byId[state.talk].unread_count).add(unread.getSnapshot().message_unread_count);
      const offs = [conversations, unread].map((part) => part.subscribe(note));
      const end = state.list.follow(() => true);
      const { message } = await state.alice.messages.send({ conversation_id: state.talk, body: "at the end" });
      await until(() => state.list.getSnapshot().messages.at(-1).id === message.id);
      state.list.see(message.id);
      await until(() => conversations.getSnapshot().byId[state.talk].last_read_id === message.id);
      offs.forEach((off) => off());
      end();
      await state.alice.messages.send({ conversation_id: state.talk, body: "after the view was closed" });
      await until(() => conversations.getSnapshot().byId[state.talk].unread_count === 1 && unread.getSnapshot().message_unread_count === 1);
      return [...shown];
    """) == [0]


def test_a_message_that_was_deleted_before_it_was_reported(talk):
    assert (
        talk.run("""
      const { conversations } = state.bob.store;
      const { messages } = state.list.getSnapshot();
      const [stays, goes] = messages.slice(-2);
      await state.alice.messages.delete({ message_id: goes.id });
      await until(() => state.list.getSnapshot().messages.length === 4);
      state.list.see(goes.id);
      state.list.see(stays.id);
      await until(async () => (await state.bob.messages.getConversation({ conversation_id: state.talk })).conversation.last_read_id === stays.id);
      await until(() => conversations.getSnapshot().byId[state.talk].last_read_id === stays.id);
      return conversations.getSnapshot().byId[state.talk].unread_count;
    """)
        == 0
    )


def test_acts_show_what_their_replies_say_without_a_connection(talk):
    assert talk.run("""
      const { notifications, unread } = state.bob.store;
      await until(() => notifications.getSnapshot().notifications.length > 0);
      state.bob.disconnect();
      const [first, second] = state.list.getSnapshot().messages;
      await state.list.react(first.id, "👍");
      const reacted = state.list.getSnapshot().messages[0].reactions.length;
      await state.list.unreact(first.id, "👍");
      const { message } = await state.bob.messages.send({ conversation_id: state.talk, body: "of Bob" });
      const list = state.bob.store.messages(state.talk);
      state.bob.connect();
      await until(() => list.getSnapshot().messages.at(-1).id === message.id);
      state.bob.disconnect();
      await list.edit(message.id, "of Bob, changed");
      const edited = state.bodies(state.bob).at(-1);
      await list.delete(message.id);
      const left = state.bodies(state.bob).at(-1);
      await notifications.read(notifications.getSnapshot().notifications[0].id);
      const read = [notifications.getSnapshot().notifications[0].is_read, unread.getSnapshot().unread_count];
      await notifications.readAll();
      const all = notifications.getSnapshot().notifications.every(({ is_read }) => is_read);
      await list.clear();
      return [reacted, state.list.getSnapshot().messages.length, edited, left, read, all];
    """) == [1, 0, "of Bob, changed", "text 4", [True, 0], True]


def test_presence_is_unknown_once_it_is_watched_no_longer(talk):
    assert (
        talk.run("""
      const presence = state.bob.store.presence(state.alice.session.userId);
      const off = presence.subscribe(() => {});
      await until(() => presence.getSnapshot()?.online);
      off();
      return presence.getSnapshot();
    """)
        is None
    )
