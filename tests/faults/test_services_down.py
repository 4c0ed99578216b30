"""Mail and push services that refuse, hang, put off or talk nonsense: nobody notices, and all of it leaves afterwards."""

import json
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.faults.conftest import FULL
from tests.faults.door import HANG, PASS, REFUSE, Door
from tests.flows.people import Person, eventually
from tests.notifications.fake_fcm import FakeFcm

ROUNDS = 200 if FULL else 4
WORDS = b"\x00\xff\r\nnot what you think\r\n"
UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
QUOTA = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
# What the mail server does, and what the push service does at the same time.
TROUBLES = {
    "well": (PASS, PASS),
    "refuse": (REFUSE, REFUSE),
    "hang": (HANG, HANG),
    "busy": (b"421 come back later\r\n", QUOTA),
    "broken": (b"554 no service here\r\n", UNAVAILABLE),
    "garbage": (WORDS, WORDS),
}


@pytest.fixture
def push(tmp_path):
    fake = FakeFcm(tmp_path)
    yield fake
    fake.stop()


@pytest.fixture
def doors(server, mail_sink, push):
    mail = Door(urlsplit(mail_sink.url).port)
    fcm = Door(urlsplit(push.endpoint).port)
    endpoint = f"http://127.0.0.1:{fcm.port}"
    account = Path(push.credentials)
    account.write_text(json.dumps(json.loads(account.read_text()) | {"token_uri": f"{endpoint}/token"}))
    server.environment |= {
        "DJANGO_SETTINGS_MODULE": "tests.faults.server_settings",
        "EMAIL_URL": f"smtp://127.0.0.1:{mail.port}",
        **push.environment,
        "PUSH_FCM_ENDPOINT": endpoint,
    }
    yield mail, fcm
    mail.close()
    fcm.close()


@pytest.mark.timeout(3600 if FULL else 120)
def test_people_go_on_while_mail_and_push_are_down(server, settle, doors, mail_sink, push):
    server.start()
    books = settle(server, 1)
    pair = books.pairs[0]
    pair.second.call("POST", "/profile/push-token", {"token": "phone", "platform": "android"})
    newcomers, statuses, slowest = [], {}, {}
    for trouble, (mail_mode, push_mode) in TROUBLES.items():
        for door, mode in zip(doors, (mail_mode, push_mode), strict=True):
            door.turn(mode)
        statuses[trouble], slowest[trouble] = Counter(), []
        for number in range(ROUNDS):
            newcomer = Person(server, f"New{trouble}{number}")
            newcomers.append(newcomer)
            for name, action in {
                "signup": lambda newcomer=newcomer: sign_up(newcomer),
                "forgot": lambda newcomer=newcomer: forgot(newcomer, pair.second.email),
                "send": lambda number=number, trouble=trouble: books.send(pair, pair.first, trouble, number),
            }.items():
                begun = time.monotonic()
                statuses[trouble][name, action()] += 1
                slowest[trouble].append(time.monotonic() - begun)
            time.sleep(0 if FULL else 0.15)
    # What is asked and answered is the same, whatever happens behind.
    assert all(seen == statuses["well"] for seen in statuses.values()), statuses
    p95 = {trouble: sorted(times)[int(len(times) * 0.95)] for trouble, times in slowest.items()}
    print("p95 in ms:", {trouble: round(1000 * seconds) for trouble, seconds in p95.items()})

    for door in doors:
        door.turn(PASS)
    for newcomer in newcomers:
        code = eventually(lambda who=newcomer: mail_sink.code_for(who.email), what=f"the mail to {newcomer.email}")
        newcomer.call("POST", "/auth/verify", {"email": newcomer.email, "code": code})
        newcomer.close()
    last = f"{len(TROUBLES) * ROUNDS} new messages"
    try:
        eventually(lambda: any(last in json.dumps(one) for one in push.messages("phone")), what="the last push")
    except AssertionError:
        print(json.dumps(push.requests("phone")[-3:]), server.output())
        raise
    books.balance()


def sign_up(person):
    data = {"first_name": "New", "last_name": "Comer", "email": person.email, "password": "a long word for me"}
    person.call("POST", "/auth/signup", data, status=201)
    return 201


def forgot(person, email):
    return person.http.post("/auth/forgot-password", json={"email": email}).status_code
