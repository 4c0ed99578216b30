"""The fleet at work while each of the servers beneath it is lost and replaced: nothing acknowledged is lost."""

import time

import pytest

from tests.faults.proxy import PASS, REFUSE
from tests.fleet.load import all_messages
from tests.fleet.processes import wait_until
from tests.fleet.replication import Replica
from tests.images import corpus

pytestmark = pytest.mark.timeout(240)
# From the kill of PostgreSQL to the last refused request, or the first that succeeds. A loaded machine takes longer.
RECOVERY_SECONDS = 20
# default_pool_size of deploy/pgbouncer.ini.
POOL_SIZE = 20


def succeeded_since(books, moment):
    """Requests of every writer that began and succeeded since."""
    return all(
        any(outcome.at - outcome.took > moment and 200 <= outcome.status < 300 for outcome in list(writer.outcomes))
        for writer in books.writers
    )


def refused_since(books, moment):
    return [outcome for outcome in books.failures() if outcome.at > moment]


def closes(books):
    return [code for listener in books.listeners for code in listener.closes]


def test_pgbouncer_is_restarted(fleet, books):
    with books:
        time.sleep(1)
        assert fleet.bouncer.show("CLIENTS"), "the processes are not connected through it"
        (limit,) = {
            row[0] for row in fleet.postgres.query("SELECT rolconfig::text FROM pg_roles WHERE rolname='parley'")
        }
        assert "statement_timeout=10s" in limit
        fleet.bouncer.process.kill()
        down = time.monotonic()
        wait_until(lambda: len(refused_since(books, down)) >= 3, what="refusals")
        fleet.bouncer.process.start()
        up = time.monotonic()
        wait_until(lambda: succeeded_since(books, up), what="a success of every writer")
        settled = time.monotonic()
        time.sleep(1)
        servers = [row for row in fleet.bouncer.show("SERVERS") if row["database"] == "parley"]
    assert 0 < len(servers) <= POOL_SIZE
    assert {outcome.status for outcome in books.failures()} == {503}, books.failures()[:5]
    assert refused_since(books, settled) == []
    assert closes(books) == []


def test_a_replica_of_postgresql_is_promoted(fleet, books):
    lost = fleet.postgres
    replica = Replica(lost, port=fleet.standby_port)
    replica.follow()
    with books:
        time.sleep(1)
        killed = time.monotonic()
        lost.kill()
        time.sleep(1)  # until monitoring has noticed
        replica.promote()
        fleet.postgres, fleet.standby_port = replica.as_primary(), lost.port
        fleet.bouncer.lead_to(replica.port)
        promoted = time.monotonic()
        wait_until(lambda: succeeded_since(books, promoted), what="a success of every writer")
        settled = time.monotonic()
        time.sleep(1)
    refused = refused_since(books, killed)
    assert {outcome.status for outcome in books.failures()} <= {503}, books.failures()[:5]
    assert [outcome for outcome in refused if outcome.at > settled] == []
    recovery = max([settled, *(outcome.at for outcome in refused)]) - killed
    print(f"{len(refused)} requests refused; all is well {recovery:.1f} s after the kill")
    assert recovery < RECOVERY_SECONDS
    assert closes(books) == []
    # Delivery, which is connected directly, has found it, too.
    with fleet.client() as anonymous:
        wait_until(lambda: anonymous.get("/readyz").json()["status"] == "ok", what="readiness")


def test_sentinel_replaces_redis(fleet, books):
    old = fleet.redis
    with books:
        time.sleep(1)
        fleet.watched_redis.fail_over()
        # Sockets listen on the new primary, so they are woken again instead of asking at each heartbeat.
        wait_until(lambda: fleet.watched_redis.subscriptions() > 0, what="sockets at the new primary")
        time.sleep(1)
    assert fleet.redis is not old
    assert books.failures() == []
    assert closes(books) == []
    # The old one comes back as a replica: the fleet is whole again.
    old.process.start()
    fleet.watched_redis.act_after(600_000)
    with fleet.client() as anonymous:
        wait_until(lambda: anonymous.get("/readyz").json()["status"] == "ok", what="readiness")


def test_the_object_store_refuses(fleet, books):
    ann, _, conversation_id = books.pairs[0]
    with books, fleet.client() as anonymous:
        time.sleep(1)
        first = upload(ann, conversation_id, "first")
        assert is_shown(anonymous, first)
        assert len(fleet.bucket.names()) == 2 * len(pictures(ann, conversation_id)), "file and thumbnail of each"
        fleet.store_port.turn(REFUSE)
        refused = post_picture(ann, conversation_id, "second")
        assert (refused.status_code, refused.json()["error"]) == (503, "service_unavailable")
        assert anonymous.get(first["media_url"]).status_code == 503
        time.sleep(1)
        fleet.store_port.turn(PASS)
        second = upload(ann, conversation_id, "second")
        assert is_shown(anonymous, second)
    # Messages do not wait for pictures.
    assert books.failures() == []
    books.add(conversation_id, [first, second])


def post_picture(person, conversation_id, name):
    path = f"/messages/conversations/{conversation_id}/media"
    files = {"file": ("photo.jpg", corpus.jpeg(), "image/jpeg")}
    headers = {"Authorization": f"Bearer {person.token}"}
    return person.http.post(path, files=files, data={"client_id": f"{name}-{id(files)}"}, headers=headers)


def upload(person, conversation_id, name):
    response = post_picture(person, conversation_id, name)
    assert response.status_code == 201, response.text
    return response.json()["message"]


def is_shown(anonymous, message):
    return anonymous.get(message["media_url"]).content.startswith(b"\xff\xd8")


def pictures(person, conversation_id):
    return [message for message in all_messages(person, conversation_id) if message["kind"] == "image"]
