"""Parallel guesses gain nothing over sequential ones, and other users are not affected."""

import re
import secrets
import sqlite3
import string
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.faults.conftest import FULL
from tests.flows.people import Person
from tests.server import ON_POSTGRES
from tests.waiting import wait_for

GUESSES = 1_000 if FULL else 40
SECOND = "violet lantern 42"


def ask_database(server, query):
    """One value, past the service."""
    if ON_POSTGRES:
        with psycopg.connect(server.environment["DATABASE_URL"].replace("postgres://", "postgresql://")) as database:
            return database.execute(query).fetchone()[0]
    path = Path(server.environment["VAR_DIR"]) / "parley.sqlite3"
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchone()[0]


class Guesser:
    """Many connections that ask at once, each from an address of its own."""

    def __init__(self, server):
        self.http = httpx.Client(base_url=f"{server.base}/api/v1", timeout=60)

    def ask(self, path, bodies, token=None):
        def one(item):
            number, body = item
            headers = {"X-Forwarded-For": f"198.51.{number // 250}.{number % 250 + 1}"}
            if token is not None:
                headers["Authorization"] = f"Bearer {token(number) if callable(token) else token}"
            for _ in range(20):
                answer = self.http.post(path, json=body, headers=headers)
                if answer.status_code != 503:  # busy: a guesser comes back
                    break
            return answer

        with ThreadPoolExecutor(25) as pool:
            answers = list(pool.map(one, enumerate(bodies)))
        for answer in answers:
            assert answer.status_code < 500, answer.text[:300]
            if answer.status_code == 429:
                assert answer.headers["Retry-After"] == str(answer.json()["retry_after"])
        return Counter("right" if a.status_code == 200 else a.json()["error"] for a in answers)


def other_than(code, number):
    return f"{(int(code) + 1 + number) % 10 ** len(code):0{len(code)}}"


@pytest.mark.timeout(600 if FULL else 150)
def test_guessing(server, settle, mail_sink):
    server.environment |= {"TRUSTED_PROXIES": "1"}
    server.start()
    pair = settle(server, 1).pairs[0]
    victim, other = pair.first, pair.second
    guesser = Guesser(server)

    def number_of(column):
        return ask_database(server, f"SELECT {column} FROM accounts_user WHERE id = {victim.id}")

    # G1: fifteen codes are compared from all networks together, then the code is dead, the right one too.
    seen = len(mail_sink.mails)
    victim.call("POST", "/auth/forgot-password", {"email": victim.email})
    wait_for(lambda: len(mail_sink.mails) > seen, what="the code")
    code = mail_sink.code_for(victim.email)
    reset = {"email": victim.email, "new_password": "another long word"}
    bodies = [reset | {"code": other_than(code, number)} for number in range(GUESSES)]
    assert guesser.ask("/auth/verify-reset", bodies) == {"invalid_otp": GUESSES}
    assert number_of("failed_codes") == 15
    assert guesser.ask("/auth/verify-reset", [reset | {"code": code}]) == {"invalid_otp": 1}

    # G2: five passwords are compared, then there is a wait; existing sessions continue, and other users do not wait.
    bodies = [{"email": victim.email, "password": f"wrong word {number}"} for number in range(GUESSES)]
    answers = guesser.ask("/auth/login", bodies)
    assert answers == {"invalid_credentials": 5, "account_locked": GUESSES - 5}
    assert number_of("wrong_passwords") == 5
    victim.call("GET", "/auth/me")
    sign_in(other)
    victim.token = victim.call("POST", "/auth/refresh")["token"]

    # The way out of the wait is a new password by mail.
    seen = len(mail_sink.mails)
    victim.call("POST", "/auth/forgot-password", {"email": victim.email})
    code = wait_for(lambda: newest_code(mail_sink, victim, seen), what="the second code")
    assert guesser.ask("/auth/verify-reset", [reset | {"code": code}]) == {"right": 1}
    second_step_guesses(server, guesser, victim, mail_sink, number_of)
    sign_in(other)


def second_step_guesses(server, guesser, victim, mail_sink, number_of):
    """G3 and G4: ten passwords a day on the account, five tries a sign-in, one winner for a recovery code."""
    password = "another long word"
    victim.token = sign_in(victim, password)["token"]
    seen = len(mail_sink.mails)
    challenge = victim.call("POST", "/auth/action-challenge", {"action": "two_step_enable"})["challenge_token"]
    code = wait_for(lambda: newest_code(mail_sink, victim, seen), what="the code of the action")
    action = victim.call("POST", "/auth/action-verify", {"challenge_token": challenge, "code": code})["action_token"]
    headers = {"Authorization": f"Bearer {victim.token}", "X-Action-Token": action}
    enabled = victim.http.post("/auth/two-step/enable", json={"password": SECOND}, headers=headers)
    assert enabled.status_code == 200, enabled.text
    recovery = enabled.json()["recovery_codes"]

    def pending():
        return sign_in(victim, password)["two_step_token"]

    token = pending()
    answers = guesser.ask("/auth/two-step/forgot", [{"recovery_code": recovery[0]}] * 20, token=token)
    assert answers["right"] == 1
    assert number_of("wrong_second_passwords") <= 5
    before = number_of("wrong_second_passwords")
    tokens = [pending() for _ in range(4)]
    bodies = [{"password": f"wrong second {number}"} for number in range(GUESSES)]
    answers = guesser.ask("/auth/two-step", bodies, token=lambda number: tokens[number % 4])
    assert answers["right"] == 0
    assert answers["invalid_two_step"] <= 10 - before
    assert number_of("wrong_second_passwords") <= 10
    alphabet = string.digits + "ABCDEFGH"
    bodies = [{"recovery_code": "".join(secrets.choice(alphabet) for _ in range(16))} for _ in range(GUESSES)]
    more = guesser.ask("/auth/two-step/forgot", bodies, token=lambda number: tokens[number % 4])
    assert more["right"] == 0
    # Recovery codes stay open when the day's guesses are used up; each sign-in allows five tries in all.
    assert answers["invalid_two_step"] + more["invalid_two_step"] <= 5 * len(tokens)
    assert number_of("wrong_second_passwords") == 10
    # The right one is not looked at any more either; who is signed in stays signed in.
    last = guesser.ask("/auth/two-step", [{"password": SECOND}], token=pending())
    assert last == {"account_locked": 1}
    victim.call("GET", "/auth/me")


def sign_in(person: Person, password: str | None = None):
    data = {"email": person.email, "password": password or f"a long word for {person.name.lower()}s"}
    headers = {"X-Forwarded-For": f"203.0.113.{secrets.randbelow(250) + 1}"}
    answer = person.http.post("/auth/login", json=data, headers=headers)
    assert answer.status_code == 200, answer.text[:300]
    return answer.json()


def newest_code(mail_sink, person, seen):
    for recipients, message in reversed(mail_sink.mails[seen:]):
        text = message.get_body(("plain",)).get_content()
        if person.email in recipients and (found := re.search(r"(?m)^\s*(\d{6,10})\s*$", text)):
            return found[1]
    return None
