"""The SDK's store over bad connections: after each step of a random walk it shows what the API says."""

import json
import os
import random
import secrets
from pathlib import Path

import pytest

from tests.databases import Backup
from tests.node import needs_node
from tests.sdk.conftest import PASSWORD, likes, manage
from tests.sdk.node import ScriptError

# Not `once`: each database and each channel layer has its own order of commits and of wake-ups.
pytestmark = [needs_node, pytest.mark.slow, pytest.mark.timeout(900)]

STEPS = int(os.environ.get("STORE_WALK_STEPS", "40"))
# After as many steps the server is killed, restored from a copy, or says that it was.
CALM = 7
LIKES = 0.08
WALK = (Path(__file__).parent / "walk.mjs").as_uri()
MESSAGES, CROWD = 130, 36


class People:
    """Alice, Bob, Carol, and a crowd that Alice knows. Their accounts come from a file."""

    def __init__(self, server, folder):
        self.server = server
        self.suffix = secrets.token_hex(3)
        self.names = ["alice", "bob", "carol", *(f"crowd{number}" for number in range(CROWD))]
        lines = [
            {
                "email": self.email(name),
                "first_name": name.title(),
                "last_name": "Example",
                **({"password": PASSWORD} if name in {"alice", "bob", "carol"} else {}),
            }
            for name in self.names
        ]
        file = folder / "people.jsonl"
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        manage(server, "import_users", str(file))

    def email(self, name):
        return f"{name}-{self.suffix}@example.com"


@pytest.fixture
def walk(node, server, tmp_path):
    people = People(server, tmp_path)
    addresses = {name: people.email(name) for name in people.names}
    node.run(f"""
      const {{ Walk }} = await import("{WALK}");
      const addresses = {json.dumps(addresses)};
      const lags = [];
      const clientOf = async (name, options) => {{
        const client = make({{ baseUrl: "{server.base}", name: options.name ?? name, ...options }});
        await client.auth.login({{ email: addresses[name], password: "{PASSWORD}" }});
        return client;
      }};
      // An answer may take its time, on the way there or back.
      const slow = (index) => async (url, request) => {{
        const wait = () => new Promise((resolve) => setTimeout(resolve, Math.random() * (state.walk?.lags[index].ms ?? 0)));
        await wait();
        const answer = await fetch(url, request);
        await wait();
        return answer;
      }};
      const devices = await Promise.all([["alice", "phone"], ["alice", "laptop"], ["bob", "bob's"]].map(([owner, name], index) =>
        clientOf(owner, {{ name, fetch: slow(index) }})));
      const readers = await Promise.all(["alice", "alice", "bob"].map((owner, index) => clientOf(owner, {{ name: `reader${{index}}` }})));
      const carol = await clientOf("carol", {{}});
      const open = async (client, user_id, count) => {{
        const {{ conversation }} = await client.messages.startConversation({{ user_id }});
        for (let number = 0; number < count; number += 1)
          await client.messages.send({{ conversation_id: conversation.id, body: `old ${{number}}` }});
        return conversation.id;
      }};
      const [alice, , bob] = readers;
      for (const name of Object.keys(addresses).filter((name) => name.startsWith("crowd"))) {{
        const {{ users }} = await alice.messages.searchUsers({{ q: `${{name}} example` }});
        const user = users.find(({{ first_name }}) => first_name.toLowerCase() === name);
        await open(alice, user.id, 1);
      }}
      const talk = await open(alice, bob.session.userId, {MESSAGES});
      await open(carol, alice.session.userId, 1);
      await open(carol, bob.session.userId, 1);
      state.walkOf = (seed) => new Walk({{ seed, devices, readers, carol, talk, until }});
      state.ids = {{ alice: alice.session.userId, carol: carol.session.userId }};
    """)
    ids = node.run("return state.ids")
    manage(server, "emit_event", text=likes(ids["alice"], ids["carol"], range(1, 41)))
    node.user_ids = ids
    return node


@pytest.fixture
def disasters(walk, server):
    """After the walk has its people: the first copy holds them."""
    made = Disasters(server)
    yield made
    made.backup.remove()


def test_the_store_shows_what_the_api_says(walk, server, disasters):
    seed = int(os.environ.get("STORE_WALK_SEED") or secrets.randbelow(2**31))
    print(f"STORE_WALK_SEED={seed}")
    dice = random.Random(seed)
    walk.run(f"""
      state.walk = state.walkOf({seed});
      for (const device of state.walk.devices) {{
        device.connect();
        const {{ conversations, notifications, calls, messages }} = device.store;
        for (const part of [conversations, notifications, calls, device.store.messages(state.walk.talk)]) part.load().catch(() => {{}});
      }}
      await state.walk.check();
    """)
    taken = []
    for number in range(STEPS):
        if number % CALM == CALM - 1:
            taken.append(disasters.next(dice))
        elif dice.random() < LIKES:
            action = dice.choice(["create", "retract"])
            targets = dice.sample(range(1, 60), 5)
            manage(server, "emit_event", text=likes(walk.user_ids["alice"], walk.user_ids["carol"], targets, action))
            taken.append(f"{action} likes")
        else:
            taken.append(walk.run("return state.walk.step()", seconds=200))
        try:
            walk.run("await state.walk.check()", seconds=200)
        except ScriptError:
            print(f"step {number} of seed {seed}: {taken}")
            raise
    print(taken)


class Disasters:
    """What happens to a server. The copy that it is restored from is a while old."""

    def __init__(self, server):
        self.server = server
        self.backup = None
        self.waiting = []
        self.keep()

    def keep(self):
        self.server.stop()
        if self.backup:
            self.backup.remove()
        self.backup = Backup(self.server.environment)
        self.server.start()

    def next(self, dice):
        """Each kind comes before one comes again."""
        if not self.waiting:
            self.waiting = ["kill", "epoch", "restore", "restore", "keep"]
            dice.shuffle(self.waiting)
        kind = self.waiting.pop()
        if kind == "kill":
            self.server.kill()
            self.server.start()
        elif kind == "epoch":
            manage(self.server, "new_epoch")
        elif kind == "keep":
            self.keep()
        else:
            self.server.stop()
            self.backup.restore()
            manage(self.server, "new_epoch")
            self.server.start()
        return kind
