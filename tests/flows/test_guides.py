"""Every code block of the guides runs as it stands, in each of its languages, against a running server."""

import json
import re
import shutil
import subprocess
import sys
from html import unescape
from io import BytesIO

import httpx
import pytest
from django.test import Client
from PIL import Image

from portal.docs import contents
from portal.docs.views import LOCAL_ADDRESS
from tests.guides import GUIDES, blocks
from tests.server import RunningServer

pytestmark = [pytest.mark.once, pytest.mark.timeout(300)]

SHOWN = re.compile(r"^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECOND = "violet lantern 42"
PROGRAMS = {
    "bash": ["bash", "-eu", "-c"],
    "js": ["node", "--input-type=module", "-e"],
    "python": [sys.executable, "-c"],
}
# These explain a client: their examples have tests of their own.
OTHERS = {"javascript", "bot"}


def cases():
    names = [page.name for page in contents.guides() if page.file.startswith("guides/") and page.name not in OTHERS]
    return [(name, language) for name in names for language in PROGRAMS if blocks(name, language)]


class World:
    """A server with Alice, Bob and their conversation, and what the guides call by a variable."""

    def __init__(self, folder):
        self.folder = folder
        self.server = RunningServer(folder, RATELIMIT_ENABLE="0")
        self.server.start(demo=True)
        people = json.loads((folder / "var" / "demo.json").read_text())
        self.alice, self.bob = ({"email": one["email"], "password": one["password"]} for one in people[:2])
        self.api = httpx.Client(base_url=f"{self.server.base}/api/v1", timeout=30)
        bob = self.post("/auth/login", self.bob)
        self.bob_token = bob["token"]
        token = self.post("/auth/login", self.alice)["token"]
        self.conversation = self.post("/messages/conversations", {"user_id": bob["user"]["id"]}, token)["conversation"][
            "id"
        ]
        self.post("/auth/action-challenge", {"action": "two_step_enable"}, self.bob_token)
        photo = BytesIO()
        Image.new("RGB", (640, 320), "teal").save(photo, "JPEG")
        (folder / "photo.jpg").write_bytes(photo.getvalue())
        self.enable_two_step()

    def post(self, path, data, token="", **headers):
        if token:
            headers["Authorization"] = f"Bearer {token}"
        response = self.api.post(path, json=data, headers=headers)
        assert response.status_code < 300, response.text
        return response.json()

    def code(self, address, previous=""):
        script = "\n".join([f"BASE = {self.server.base!r}", *blocks("testing", "python")])
        done = subprocess.run(
            [sys.executable, "-c", f"{script}\nprint(code_of({address!r}, {previous!r}))"],
            capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        return done.stdout.strip()

    def enable_two_step(self):
        challenge = self.post("/auth/action-challenge", {"action": "two_step_enable"}, self.bob_token)
        data = {"challenge_token": challenge["challenge_token"], "code": self.code(self.bob["email"])}
        for _ in range(20):
            response = self.api.post(
                "/auth/action-verify", json=data, headers={"Authorization": f"Bearer {self.bob_token}"}
            )
            if response.status_code == 200:
                break
            data["code"] = self.code(self.bob["email"], data["code"])
        action = response.json()["action_token"]
        second = {"password": SECOND, "hint": "a colour and a light"}
        self.post("/auth/two-step/enable", second, self.bob_token, **{"X-Action-Token": action})

    def variables(self, language):
        mails = httpx.get(f"{self.server.base}/dev/mail.json", params={"to": self.alice["email"]}).json()["mails"]
        return {
            "BASE": self.server.base,
            "TOKEN": self.post("/auth/login", self.alice)["token"],
            "EMAIL": self.alice["email"],
            # Alice's and Bob's passwords differ; the two-step guide signs Bob in.
            "PASSWORD": self.bob["password"],
            "TWO_STEP_EMAIL": self.bob["email"],
            "SECOND_PASSWORD": SECOND,
            "CONVERSATION": str(self.conversation),
            "NEW_EMAIL": f"dana.{language}@example.com",
            "NEW_PASSWORD": "seven tall trees",
            "SEEN_CODE": mails[0]["code"] if mails else "",
        }

    def run(self, guide, language):
        """Run the blocks of one language, with the helpers of the guide on testing before them."""
        helpers = blocks("testing", language) if guide != "testing" else []
        code = "\n".join([*helpers, *blocks(guide, language)])
        values = self.variables(language)
        if language == "bash":
            setting = "\n".join(f"{name}='{value}'" for name, value in values.items())
        else:
            word = "const " if language == "js" else ""
            setting = "\n".join(f"{word}{name} = {json.dumps(value)}" for name, value in values.items())
        if language == "js":
            setting += '\nimport { readFileSync } from "node:fs";\nconst photo = new Blob([readFileSync("photo.jpg")], { type: "image/jpeg" });'
        command = [*PROGRAMS[language], f"{setting}\n{code}"]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("guides"))
    yield made
    made.server.kill()


@pytest.mark.parametrize(("guide", "language"), cases())
def test_the_examples_of_a_guide_run(world, guide, language):
    program = PROGRAMS[language][0]
    if shutil.which(program) is None:
        pytest.skip(f"no {program} here")
    if language == "js" and guide == "live-events" and "WebSocket" not in node_globals():
        pytest.skip("this Node has no WebSocket")
    done = world.run(guide, language)
    assert done.returncode == 0, done.stdout + done.stderr
    assert guide == "retries" or not re.search(r"[\"']ok[\"']?:\s*[fF]alse", done.stdout), done.stdout


@pytest.mark.parametrize("language", PROGRAMS)
def test_the_quick_start_runs_and_shows_the_real_responses(world, language):
    program = PROGRAMS[language][0]
    if shutil.which(program) is None:
        pytest.skip(f"no {program} here")
    code = "\n".join(blocks("quickstart", language)).replace(LOCAL_ADDRESS, world.server.base)
    done = subprocess.run(
        [*PROGRAMS[language], code], cwd=world.folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for body in ('"Hello Bob!"', '"message.new"'):
        assert body in done.stdout.replace("'", '"')
    if language == "bash":
        shown = [shape(json.loads(text)) for text in SHOWN.findall((GUIDES / "quickstart.md").read_text())]
        assert [shape(reply) for reply in replies_in(done.stdout)] == shown


def replies_in(text):
    """JSON values that stand one behind the other."""
    found, decoder = [], json.JSONDecoder()
    while text := text.strip():
        reply, end = decoder.raw_decode(text)
        found.append(reply)
        text = text[end:]
    return found


def shape(value):
    """The names in a value, in order; what the guide leaves out with an ellipsis is not looked at."""
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    if not isinstance(value, dict):
        return type(value).__name__
    return {name: "…" if name == "data" else shape(inner) for name, inner in value.items()}


def test_the_quick_start_page_has_the_address_of_its_server():
    page = unescape(Client(headers={"host": "testserver"}).get("/docs/quickstart").content.decode())
    for language in PROGRAMS:
        for block in blocks("quickstart", language):
            assert block.replace(LOCAL_ADDRESS, "http://testserver") in page


def node_globals():
    done = subprocess.run(["node", "-e", "console.log(typeof WebSocket)"], capture_output=True, text=True, check=True)
    return "WebSocket" if "function" in done.stdout else ""


def test_every_flow_has_its_guide_in_three_languages():
    for guide in ("sign-up", "two-step", "action-tokens", "uploads", "paging", "idempotency", "retries", "testing"):
        for language in PROGRAMS:
            assert blocks(guide, language), (guide, language)
