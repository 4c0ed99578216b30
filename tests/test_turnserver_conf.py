"""The relay of calls reaches no host of its own network, in any notation of an address."""

import ipaddress
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

CONF = Path(__file__).resolve().parent.parent / "deploy" / "turnserver.conf"
PRIVATE = ["10.0.0.1", "127.0.0.1", "169.254.169.254", "172.16.5.4", "172.31.255.255", "192.168.1.1", "100.64.0.1"]


def denied(text):
    address = ipaddress.ip_address(text)
    for line in CONF.read_text().splitlines():
        name, _, value = line.partition("=")
        if name == "denied-peer-ip":
            first, _, last = value.partition("-")
            start, end = ipaddress.ip_address(first), ipaddress.ip_address(last or first)
            assert start.version == end.version and start <= end, line
            if address.version == start.version and start <= address <= end:
                return True
    return False


def in_ipv6(text):
    """The ways to write an IPv4 address into an IPv6 one."""
    bits = int(ipaddress.IPv4Address(text))
    prefixes = {"mapped": "::ffff:0:0", "compatible": "::", "translated": "::ffff:0:0:0", "nat64": "64:ff9b::"}
    for name, prefix in prefixes.items():
        yield name, ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | bits)
    yield "local nat64", ipaddress.IPv6Address(int(ipaddress.IPv6Address("64:ff9b:1::")) | bits)
    yield "6to4", ipaddress.IPv6Address((0x2002 << 112) | (bits << 80) | 1)
    yield "teredo server", ipaddress.IPv6Address((0x20010000 << 96) | (bits << 64))
    yield "teredo client", ipaddress.IPv6Address((0x20010000 << 96) | (bits ^ 0xFFFFFFFF))


@pytest.mark.parametrize("address", PRIVATE)
def test_no_spelling_of_a_private_address_is_relayed_to(address):
    assert denied(address)
    for name, spelled in in_ipv6(address):
        assert denied(str(spelled)), (name, spelled)


def test_networks_behind_it_are_not_relayed_to():
    for address in ("::", "::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "0.0.0.0", "255.255.255.255"):
        assert denied(address), address


def test_the_internet_is():
    for address in ("1.1.1.1", "93.184.216.34", "2606:4700::1111", "2a00:1450:4001::200e", "2001:470::1"):
        assert not denied(address), address
