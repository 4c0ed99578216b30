"""What is logged about signing in: who and with what result; never a code, a password or a token."""

import logging
import re

import pytest
from django.core import mail

from tests.client import ApiClient
from tests.contract.test_signing_in import AUTH, PERSON, mailed_code


class Kept(logging.Handler):
    """Every line at every level, as a formatter would write it."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        self.lines.append(logging.Formatter("%(name)s %(message)s").format(record) + repr(record.args))


@pytest.fixture
def log(monkeypatch):
    handler, root = Kept(), logging.getLogger()
    for logger in (root, logging.getLogger("parley.access"), logging.getLogger("django.request")):
        monkeypatch.setattr(logger, "level", logging.DEBUG)
        logger.manager._clear_cache()
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)
    monkeypatch.undo()
    root.manager._clear_cache()


def test_no_secret_is_in_a_log_line(anonymous, log):
    secrets = [PERSON["password"], "wrong horse 9", "another horse 9"]
    anonymous.post(f"{AUTH}/signup", PERSON, status=201)
    code = mailed_code(mail.outbox, PERSON["email"])
    wrong = f"{(int(code) + 1) % 10**6:06d}"
    anonymous.post(f"{AUTH}/verify", {"email": PERSON["email"], "code": wrong}, status=400)
    token = anonymous.post(f"{AUTH}/verify", {"email": PERSON["email"], "code": code})["token"]
    new = ApiClient(token).post(f"{AUTH}/refresh")["token"]
    anonymous.post(f"{AUTH}/login", {"email": PERSON["email"], "password": "wrong horse 9"}, status=401)
    anonymous.post(f"{AUTH}/login", {"email": "odd", "password": "wrong horse 9"}, status=400)
    anonymous.post(f"{AUTH}/login", b'{"password": "wrong horse 9", ', status=400)
    anonymous.post(f"{AUTH}/forgot-password", {"email": PERSON["email"]})
    reset = mailed_code(mail.outbox, PERSON["email"])
    body = {"email": PERSON["email"], "code": reset, "new_password": "another horse 9"}
    anonymous.post(f"{AUTH}/verify-reset", body)
    ApiClient(new).get(f"{AUTH}/me", status=401)
    text = "\n".join(log.lines)
    assert log.lines, "nothing was logged at all"
    for secret in [*secrets, code, wrong, reset, token, new]:
        assert not re.search(rf"(?<![0-9A-Za-z]){re.escape(secret)}(?![0-9A-Za-z])", text), secret
