"""The team's own server in tests: a client with a server key."""

from typing import Any

from integrations.models import Scope
from integrations.services import keys
from tests.client import ApiClient

ALL = tuple(Scope)
PREFIX = "/api/v1/server"


def make_key(*scopes: str, name: str = "backend", networks: tuple[str, ...] = ()) -> str:
    return keys.create(name=name, scopes=scopes or ALL, networks=networks, actor="tests")[1]


def server(*scopes: str, **options: Any) -> ApiClient:
    """A client whose key has these scopes, all without one."""
    return ApiClient(make_key(*scopes, **options))


def new_user(client: ApiClient, status: int = 201, **fields: Any) -> Any:
    data = {"email": "mia@example.com", "first_name": "Mia", "last_name": "Miller", **fields}
    return client.post(f"{PREFIX}/users", data, status)
