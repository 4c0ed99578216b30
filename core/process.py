"""Memory settings of a server process, applied when it starts."""

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Parameter of glibc's mallopt.
_M_MMAP_THRESHOLD = -3
_LARGE_BYTES = 4 * 1024 * 1024


@contextmanager
def without_modules(*modules: str) -> Iterator[None]:
    """Context manager: inside, these optional modules cannot be imported; afterwards they can.

    Libraries import optional dependencies eagerly; None in `sys.modules` stops that. A module that is already loaded
    stays.
    """
    missing = [name for name in modules if name not in sys.modules]
    placeholders: dict[str, Any] = dict.fromkeys(missing)
    sys.modules.update(placeholders)
    try:
        yield
    finally:
        for name in missing:
            del sys.modules[name]


def loading() -> None:
    """Call before the first import: settings of memory, and no garbage collection until `loaded`.

    Modules stay in memory, so collections while they are imported find nothing.
    """
    gc.disable()
    _return_large_blocks()


def loaded() -> None:
    """Call after all imports: the garbage collector then ignores the objects that exist by now.

    A full collection over all modules stops every thread of the process for tens of milliseconds.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


def _return_large_blocks() -> None:
    """Makes glibc give blocks above 4 MiB back to the system as soon as they are freed.

    Its default limit grows to the largest block it has seen (19 MiB for a password hash), and it then keeps such a
    block for every thread. Other C libraries have no such limit.
    """
    try:
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
    except (AttributeError, OSError, TypeError):
        return
