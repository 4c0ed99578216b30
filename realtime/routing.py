"""Paths of the socket; anything else is refused.

One path needs no router of Channels: that would copy the scope of every socket and hold two more frames
for as long as it is open.
"""

from realtime.consumers import refuse, serve
from realtime.consumers.connection import Receive, Scope, Send

PATH = "/api/v1/realtime"


async def websocket_application(scope: Scope, receive: Receive, send: Send) -> None:
    door = serve if scope.get("path") == PATH else refuse
    await door(scope, receive, send)
