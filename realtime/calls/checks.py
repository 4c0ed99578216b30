"""System checks of the settings of calls, each with a hint how to fix it. They do not open connections."""

import re
from typing import Any

from django.core import checks

from realtime.conf import conf


@checks.register()
def ice_servers(**options: Any) -> list[checks.CheckMessage]:
    """realtime.E001: a browser rejects the whole ICE configuration for one invalid address."""
    urls = [("TURN_URLS", "turns?", url) for url in conf.TURN_URLS]
    urls += [("STUN_URLS", "stuns?", url) for url in conf.STUN_URLS]
    return [
        checks.Error(
            f"{name} holds {url!r}.",
            hint=f"Write {scheme.removesuffix('s?')}:host:port or {scheme.removesuffix('?')}:host:port, without slashes.",
            id="realtime.E001",
        )
        for name, scheme, url in urls
        if not re.fullmatch(rf"{scheme}:(\[[^/\s]+\]|[^/\s:?]+)(:\d{{1,5}})?(\?[^/\s]+)?", url)
    ]
