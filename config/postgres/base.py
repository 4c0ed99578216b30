"""A kept connection is looked at before it is used again, without asking the server.

Django's health check sends `SELECT 1` and waits for the answer once per request. A connection whose
server went away has something to read (the end, or an error), an idle one has not: one look at the
socket tells them apart.
"""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        if self.connection is None or self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0) or super().is_usable()
