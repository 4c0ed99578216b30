"""The main job through the real server: two people talk, the server dies in the middle, nothing is lost, nothing is twice."""

import pytest

from tests.flows.main_job import two_people_talk
from tests.flows.people import Person


@pytest.fixture
def alice(server):
    person = Person(server, "Alice")
    yield person
    person.close()


@pytest.fixture
def bob(server):
    person = Person(server, "Bob")
    yield person
    person.close()


@pytest.mark.timeout(240)
def test_two_people_talk_and_the_server_dies(server, mail_sink, alice, bob):
    server.start()
    alice.sign_up(mail_sink)
    bob.sign_up(mail_sink)
    two_people_talk(server, alice, bob)
