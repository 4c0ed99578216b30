"""The client's address behind trusted proxies, and the networks that rates count it in."""

import ipaddress

from django.http import HttpRequest

from core.conf import conf
from core.request_context import _current


def client_address() -> str | None:
    """The client address of the current request; None outside of a request."""
    context = _current.get()
    return address_of(context.request) if context else None


def address_of(request: HttpRequest) -> str | None:
    """The client's address, IPv4-mapped ones unwrapped; None when the server knows none.

    Every trusted proxy appends the address of its client to X-Forwarded-For, so the n-th value from the right is the
    client's for n proxies. Values further left are set by the client and not trusted.
    """
    return forwarded_address(request.META.get("REMOTE_ADDR", ""), request.META.get("HTTP_X_FORWARDED_FOR", ""))


def forwarded_address(peer: str, forwarded_for: str) -> str | None:
    """The client's address, from the address of the connection and X-Forwarded-For (several headers joined by commas)."""
    address = plain_address(peer)
    if conf.TRUSTED_PROXIES < 1:
        return address
    forwarded = forwarded_for.split(",")
    if len(forwarded) < conf.TRUSTED_PROXIES:
        return address
    return plain_address(forwarded[-conf.TRUSTED_PROXIES]) or address


def network_of(address: str | None) -> str:
    """The network that limits count as one client: an IPv4 address, or the /64 of an IPv6 address."""
    if address is None:
        return "unknown"
    if ":" in address:
        return str(ipaddress.ip_network(f"{address}/64", strict=False).network_address)
    return address


# A home or an office has a /64 to each of its networks, and may have a /56 or a /48 of them: IPv6 is counted for all three.
# Prefix → how many times the allowance of one network holds for all networks below it.
WIDER_ALLOWANCES = {56: 4, 48: 16}


def wider_networks(network: str) -> list[tuple[str, int]]:
    """The networks around the /64 of an IPv6 client, each with its multiple of an allowance; none for other clients."""
    if ":" not in network:
        return []
    try:
        address = ipaddress.IPv6Address(network)
    except ValueError:
        return []
    return [
        (str(ipaddress.ip_network((address, bits), strict=False)), times) for bits, times in WIDER_ALLOWANCES.items()
    ]


def network_of_request(request: HttpRequest) -> str:
    return network_of(address_of(request))


def plain_address(text: str) -> str | None:
    """An IP address without brackets, port and zone, an IPv4-mapped one as IPv4; None for any other text."""
    text = text.strip()
    if text.startswith("["):  # [2001:db8::1]:443
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:  # 192.0.2.1:443
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)
