"""Routes the socket's path; any other path is refused.

Channels' router is not used for a single path: it would copy the scope of every socket and keep two more
stack frames while it is open.
"""

from realtime.consumers import refuse, serve
from realtime.consumers.connection import Receive
from realtime.consumers.handshake import Scope
from realtime.consumers.protocol import Send

PATH = "/api/v1/realtime"


async def websocket_application(scope: Scope, receive: Receive, send: Send) -> None:
    handler = serve if scope.get("path") == PATH else refuse
    await handler(scope, receive, send)
