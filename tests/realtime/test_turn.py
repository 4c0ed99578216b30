"""The credentials are those that coturn's `use-auth-secret` computes for itself."""

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from realtime.calls import checks
from realtime.calls.services import signaling


def servers(settings, **fields):
    settings.REALTIME_TURN_URLS = fields.get("urls", ["turn:turn.example.com:3478"])
    settings.REALTIME_TURN_SECRET = fields.get("secret", "a shared secret")
    settings.REALTIME_STUN_URLS = ["stun:stun.example.com:3478"]


def test_a_turn_credential_is_the_hmac_of_expiry_and_pseudonym(settings):
    servers(settings)
    stun, relay = signaling.ice(label="7:9", relay_only=False)["ice_servers"]
    assert stun == {"urls": ["stun:stun.example.com:3478"]}
    assert relay["urls"] == ["turn:turn.example.com:3478"]
    expiry, pseudonym = relay["username"].split(":")
    ahead = datetime.fromtimestamp(int(expiry), UTC) - timezone.now()
    assert timedelta(minutes=59) < ahead <= timedelta(hours=1)
    expected = hmac.new(b"a shared secret", relay["username"].encode(), hashlib.sha1).digest()
    assert base64.b64decode(relay["credential"]) == expected
    assert pseudonym != "7"
    again = signaling.ice(label="8:9", relay_only=False)["ice_servers"][1]["username"]
    assert again.split(":")[1] != pseudonym


def test_addresses_that_browsers_refuse_are_found(settings):
    servers(settings, urls=["turn:turn.example.com:3478?transport=udp", "turns:[::1]:5349"])
    assert checks.ice_servers() == []
    settings.REALTIME_TURN_URLS = ["turn://turn.example.com", "nonsense", "turn:h:port", "turn:h:", "turn:h:123456"]
    settings.REALTIME_STUN_URLS = ["http://stun.example.com", "turn:h", "stun:h:1:2"]
    assert [found.id for found in checks.ice_servers()] == ["realtime.E001"] * 8


def test_who_wants_relayed_calls_gets_the_relay_alone(settings):
    servers(settings)
    route = signaling.ice(label="7:9", relay_only=True)
    assert route["ice_transport_policy"] == "relay"
    assert [server["urls"] for server in route["ice_servers"]] == [["turn:turn.example.com:3478"]]


def test_without_servers_there_are_none(settings):
    servers(settings, urls=[], secret="")
    settings.REALTIME_STUN_URLS = []
    assert signaling.ice(label="7:9", relay_only=False) == {"ice_servers": [], "ice_transport_policy": "all"}


def test_an_operator_can_try_the_server(settings):
    servers(settings)
    out = StringIO()
    call_command("turn_credentials", "--json", "--label", "7:9", stdout=out)
    printed = json.loads(out.getvalue())
    assert printed["urls"] == ["turn:turn.example.com:3478"]
    assert printed["expires_in"] == 3600
    expected = hmac.new(b"a shared secret", printed["username"].encode(), hashlib.sha1).digest()
    assert base64.b64decode(printed["credential"]) == expected


def test_without_a_server_the_command_says_what_to_set(settings):
    servers(settings, urls=[], secret="")
    with pytest.raises(CommandError, match="TURN_URLS"):
        call_command("turn_credentials")
