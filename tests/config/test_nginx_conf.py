"""The shipped nginx counts the connections of a client as the service counts a client."""

import ipaddress
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from core.network import network_of
from server.concurrency_limit import hashing_paths
from tests.server import free_port

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed"),
]

SHIPPED = Path(settings.BASE_DIR) / "deploy" / "nginx.conf"
CONFIGURATION = """
daemon off; pid {folder}/pid; error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    {map}
    server {{
        listen 127.0.0.1:{port};
        set_real_ip_from 127.0.0.1;
        real_ip_header X-Client;
        location / {{ return 200 "$client_network"; }}
    }}
}}
"""
ADDRESSES = [
    "192.0.2.1", "192.0.2.2", "::1", "::2", "::1:0:0:0:1", "fe80::1", "2001:db8::1", "2001:db8::5:0:0:0:1", "2001:db8:1::1",
    "2001:db8:1:2::1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:0:0:5:6", "2001:db8:1:3::", "2001:db8:0:2:1:1:1:1",
    "2001:db8:0:3:1:1:1:1", "2001:0:0:1:1:1:1:1", "2001:0:0:2:1:1:1:1", "2001:db8:1:0:1:1:1:1", "2001:db8:1:1:1:1:1:1",
]  # fmt: skip


@pytest.fixture(scope="module")
def client_network(tmp_path_factory):
    """Asks nginx, with the map of the shipped file, by what it counts a client of an address."""
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    [shipped] = re.findall(r"map \$remote_addr \$client_network \{.*?\n\}", SHIPPED.read_text(), re.DOTALL)
    (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port, map=shipped))
    process = subprocess.Popen(["nginx", "-p", folder, "-c", folder / "nginx.conf"], stderr=subprocess.DEVNULL)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}") as http:

        def ask(address):
            return http.get("/", headers={"X-Client": address}).text

        for _ in range(100):
            try:
                ask("192.0.2.1")
                break
            except httpx.ConnectError:
                time.sleep(0.05)
        yield ask
    process.terminate()
    process.wait()


def test_addresses_of_different_networks_are_counted_apart(client_network):
    networks = {}
    for address in ADDRESSES:
        networks.setdefault(client_network(address), set()).add(network_of(address))
    assert "" not in networks, "nginx does not count a client with an empty name"
    assert {name: seen for name, seen in networks.items() if len(seen) > 1} == {}


def test_addresses_of_one_network_are_counted_together(client_network):
    """A network with a group of zeros is written in two ways, depending on the zeros after it: it counts as two."""
    numbers = random.Random(5)
    prefixes = [
        "2001:db8:1:2::",
        "2001:db8:1::",
        "2001:db8::",
        "2001:db8:0:7::",
        "2001:0:0:7::",
        "fd00::",
        "2a01:4f8:c17:b0f::",
    ]
    hosts = [0, 1, 0xFFFF, 1 << 48, 0xFFFF << 32, *(numbers.getrandbits(64) for _ in range(30))]
    for prefix in prefixes:
        names = {
            client_network(str(ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) + host))) for host in hosts
        }
        assert len(names) <= (
            2 if "0" in ipaddress.IPv6Address(prefix).exploded.replace("0000", "0").split(":")[:4] else 1
        ), (prefix, names)


def test_requests_that_hash_a_password_wait_in_nginx():
    """As on `serve`, where they wait in the event loop: granian has few threads, and a request that waits there holds one."""
    text = SHIPPED.read_text()
    [listed] = re.findall(r'map "\$request_method \$uri" \$hashes_password \{(.*?)\n\}', text, re.DOTALL)
    assert {tuple(request.split()) for request in re.findall(r'"(\S+ \S+)" 1;', listed)} == hashing_paths()
    [(zone, rate)] = re.findall(r"limit_req_zone \$hashes_password zone=(\w+):\S+ rate=(\d+)r/s;", text)
    [(used, burst)] = re.findall(r"^\s+limit_req zone=(\w+) burst=(\d+);", text, re.MULTILINE)
    assert used == zone and int(burst) / int(rate) <= 2, "waits up to two seconds"


def test_connections_are_counted_by_the_network():
    text = SHIPPED.read_text()
    assert re.findall(r"^limit_conn_zone (\S+) zone=(\w+):", text, re.MULTILINE) == [
        ("$client_network", "parley_clients")
    ]
    assert re.findall(r"^\s+limit_conn (\w+) \d+;", text, re.MULTILINE) == ["parley_clients"]
