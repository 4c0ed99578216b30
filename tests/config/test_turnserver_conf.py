"""The real coturn with the shipped file: it passes calls on to the internet, and nothing else to anywhere."""

import ipaddress
import re

import pytest

from accounts.models import User
from realtime.calls.models import Call
from realtime.calls.services import signaling
from tests import relay
from tests.relay import Relay, TurnClient, needs_turnserver

pytestmark = [pytest.mark.once, needs_turnserver]

# Not reachable from everywhere (the IANA registries of special-purpose addresses), and multicast.
CLOSED = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/96",
    "::ffff:0:0/96",
    "::ffff:0:0:0/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
]
PRIVATE = ["10.0.0.1", "10.1.0.0", "127.0.0.1", "169.254.169.254", "172.16.5.4", "172.31.255.255", "192.168.1.1"]
PRIVATE += ["100.64.0.1", "0.0.0.1", "192.168.0.0", "255.255.255.255"]
OPEN = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
    "192.0.1.0",
    "192.0.3.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450:4001::200e",
    "2001:470::1",
    "2001:200::1",
    "2001:db7:ffff::1",
    "2001:db9::1",
    "2003::1",
    "2400::1",
    "3ffe::1",
    "2a02::",
]


def in_ipv6(text):
    """The ways to write an IPv4 address into an IPv6 one."""
    bits = int(ipaddress.IPv4Address(text))
    for prefix in ("::ffff:0:0", "::", "::ffff:0:0:0", "64:ff9b::", "64:ff9b:1::"):
        yield ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | bits)
    yield ipaddress.IPv6Address((0x2002 << 112) | (bits << 80) | 1)
    yield ipaddress.IPv6Address((0x20010000 << 96) | (bits << 64))
    yield ipaddress.IPv6Address((0x20010000 << 96) | (bits ^ 0xFFFFFFFF))


def inside(network):
    """Both ends of a network, their neighbours, and addresses with each byte at its ends: servers compare bytes."""
    first, last = int(network.network_address), int(network.broadcast_address)
    free = last - first
    patterns = [0, 1, 2, free, free - 1, free // 2, free // 3]
    for shift in range(0, free.bit_length(), 8):
        patterns += [value << shift for value in (1, 0x7F, 0xFF) if value << shift <= free]
        patterns += [free & ~(0xFF << shift)]
    return sorted({network[0] + pattern for pattern in patterns})


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    addresses = ["listening-ip=127.0.0.1", "relay-ip=127.0.0.1"]
    if relay.has_ipv6():
        addresses.append("relay-ip=::1")
    with Relay(tmp_path_factory.mktemp("turn"), *addresses) as coturn:
        yield coturn


@pytest.fixture(scope="module")
def permission(running):
    """A function: what the relay says to a peer, 0 or the code of its refusal."""
    clients = {4: TurnClient(running.port), 6: TurnClient(running.port)}
    assert clients[4].allocate() == 0
    assert not relay.has_ipv6() or clients[6].allocate(ipv6=True) == 0

    def ask(peer):
        version = ipaddress.ip_address(peer).version
        if version == 6 and not relay.has_ipv6():
            pytest.skip("this machine has no IPv6")
        return clients[version].permission(str(peer))

    yield ask
    for client in clients.values():
        client.close()


def test_it_knows_every_line_of_the_file(running):
    assert not re.search(r"unknown|unrecogni|bad configuration|illegal|wrong", running.output(), re.IGNORECASE)
    options = [line.partition("=")[0] for line in relay.SHIPPED.read_text().splitlines() if line[:1] not in ("", "#")]
    help_text = relay.help_text()
    assert [name for name in options if f"--{name}" not in help_text] == []


@pytest.mark.parametrize("network", CLOSED)
def test_it_refuses_every_network_that_is_not_of_the_internet(network, permission):
    addresses = inside(ipaddress.ip_network(network))
    assert len(addresses) > 5
    assert [str(address) for address in addresses if permission(address) != 403] == []


@pytest.mark.parametrize("address", PRIVATE)
def test_it_refuses_every_spelling_of_a_private_address(address, permission):
    assert [str(spelled) for spelled in (address, *in_ipv6(address)) if permission(spelled) != 403] == []


def test_it_passes_on_to_the_internet(permission):
    assert [address for address in OPEN if permission(address) != 0] == []


def test_it_relays_no_tcp(running):
    over_tcp, over_udp = TurnClient(running.port, over_tcp=True), TurnClient(running.port)
    assert over_tcp.allocate(transport=relay.TCP) == 442
    assert over_udp.allocate(transport=relay.TCP) in (400, 442)
    # Media over a TCP connection to the relay is something else, and works where UDP is blocked.
    assert over_tcp.allocate() == 0


def test_it_helps_neither_to_discover_networks_nor_to_flood_others(running):
    attributes = TurnClient(running.port).binding()
    assert {relay.MAPPED, relay.OTHER_ADDRESS} & set(attributes) == set()
    assert TurnClient(running.port).old_binding() == b""


def test_it_wants_credentials(running):
    assert TurnClient(running.port, credentials=("9999999999:user-7", "a guess")).allocate() == 401
    username, password = relay.credentials_of("user-7")
    assert TurnClient(running.port, credentials=(f"9{username}", password)).allocate() == 401


def test_a_user_has_one_quota_whatever_the_calls(running, settings):
    settings.REALTIME_TURN_SECRET = relay.SECRET
    quota = int(re.search(r"^user-quota=(\d+)$", relay.SHIPPED.read_text(), re.MULTILINE)[1])
    settings.REALTIME_TURN_URLS = [f"turn:127.0.0.1:{running.port}"]

    def allocate(user_id, call_id):
        settings.REALTIME_TURN_SECONDS = 3600 + call_id
        (server,) = signaling.ice_for(actor=User(id=user_id), call=Call(id=call_id))["ice_servers"]
        return TurnClient(running.port, credentials=(server["username"], server["credential"])).allocate()

    assert [allocate(7, call_id) for call_id in range(quota + 1)] == [*[0] * quota, 486]
    assert allocate(8, 1) == 0
