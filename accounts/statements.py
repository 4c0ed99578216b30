"""A cursor for hand-written statements that run again and again: the server plans each of them once.

Planning a statement with a few joins takes PostgreSQL longer than running it. What must be planned for
its values (searching text) uses the ordinary cursor, and so does everything else.
"""

from contextlib import AbstractContextManager
from typing import Any

from django.db import connection


def prepared() -> AbstractContextManager[Any]:
    """A cursor whose statements stay prepared on their connection; on SQLite an ordinary one.

    Values are bound by the server, so a statement may have to name the type of a bare parameter.
    """
    make = getattr(connection, "prepared_cursor", connection.cursor)
    return make()  # type: ignore[no-any-return]
