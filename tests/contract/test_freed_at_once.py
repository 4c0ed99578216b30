"""What a request takes is freed with its reply. Objects that refer to each other stay until the garbage collector runs:
the bodies of many requests at once, and a twentieth of the CPU of a small one."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.http import HttpRequest, HttpResponseBase
from django.test.client import ClientHandler, FakePayload
from rest_framework.request import Request
from rest_framework.views import APIView

from tests.contract.routes import address, all_routes
from tests.factories import make_user, sign_in

# The schema, like a file, is a reply without a renderer, which leads to no view.
ROUTES = [f"{method} {address(path)}" for method, path in all_routes() if path != "schema"]

LARGE = (HttpRequest, HttpResponseBase, Request, APIView)


@contextmanager
def uncollected() -> Iterator[list[str]]:
    """Fills the list with the views, requests and replies that only the garbage collector can free."""
    left: list[str] = []
    gc.collect()
    gc.freeze()  # nothing that exists by now is looked at again
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield left
        gc.collect()
        left += [type(one).__name__ for one in gc.garbage if isinstance(one, LARGE)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.fixture(scope="module", autouse=True)
def unfrozen_at_the_end() -> Iterator[None]:
    """Not after each test: then each would begin with a collection of all objects."""
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def handler() -> ClientHandler:
    return ClientHandler(enforce_csrf_checks=False)


def ask(handler: ClientHandler, route: str, token: str) -> None:
    """Without the test client, which keeps references of its own."""
    method, path = route.split()
    body = b"{}"
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "SERVER_NAME": "testserver",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_AUTHORIZATION": f"Bearer {token}" if token else "",
        "wsgi.url_scheme": "http",
        "wsgi.input": FakePayload(body),
    }
    handler(environ)


@pytest.mark.once
@pytest.mark.django_db
@pytest.mark.parametrize("is_signed_in", [False, True])
@pytest.mark.parametrize("route", ROUTES)
def test_nothing_waits_for_the_garbage_collector(handler, route, is_signed_in):
    token = sign_in(make_user("Alice"))[1] if is_signed_in else ""
    ask(handler, route, token)  # caches are filled now
    token = sign_in(make_user("Bob"))[1] if is_signed_in else ""
    with uncollected() as left:
        ask(handler, route, token)
    assert left == []
