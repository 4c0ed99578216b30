"""Tasks of one program that need a new token at the same time: they get one, and the session lives on."""

import asyncio
import json
from pathlib import Path

from parley_client import AuthenticatedClient, Parley
from parley_client.api.auth import auth_logout, auth_me, auth_sessions_list
from parley_client.models import ErrorResponse, MeResponse, SessionsResponse
from parley_client.types import Response

STATE = Path("session.json")


def token() -> str:
    return str(json.loads(STATE.read_text())["token"])


async def me(api: AuthenticatedClient) -> Response[ErrorResponse | MeResponse]:
    return await auth_me.asyncio_detailed(client=api)


async def sessions(api: AuthenticatedClient) -> Response[ErrorResponse | SessionsResponse]:
    return await auth_sessions_list.asyncio_detailed(client=api)


async def main() -> None:
    async with Parley.from_environment(STATE) as parley:

        async def ids() -> list[int]:
            return sorted(row.id for row in (await parley.call(sessions)).sessions)

        first, before = token(), await ids()
        await asyncio.gather(*(parley.renew() for _ in range(4)), *(parley.call(me) for _ in range(4)))
        second = token()
        assert second != first
        assert await ids() == before
        # A client that was made before the renewal goes on with the new token.
        await parley.renew()
        assert token() != second
        assert (await parley.call(me)).user.id == parley.user_id

        # The session ends elsewhere while several requests are made: the program signs in once.
        await parley.call(lambda api: auth_logout.asyncio_detailed(client=api))
        await asyncio.gather(*(parley.call(me) for _ in range(4)), parley.renew())
        after = await ids()
        assert len(after) == len(before), (before, after)
        assert after != before
    print("done")


asyncio.run(main())
