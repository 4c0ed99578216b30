"""The secrets of the environment, each with its minimum length.

Apps register theirs. The check core.E001 walks the list; with a shorter secret nothing starts.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

# For secrets that sign or encrypt: an attacker can guess them offline.
KEY_BYTES = 32
# For secrets that are only compared: an attacker has to send each guess to the service.
TOKEN_BYTES = 16


@dataclass(frozen=True, slots=True)
class SecretSetting:
    variable: str
    least_bytes: int
    # Returns the secrets in the variable, none if it is empty. Raises no error.
    secrets: Callable[[], Iterable[str]]
    hint: str

    def is_short(self) -> bool:
        # White space at the ends is not part of a secret.
        return any(secret and len(secret.strip().encode()) < self.least_bytes for secret in self.secrets())


_registered: dict[str, SecretSetting] = {}


def register(variable: str, least_bytes: int, secrets: Callable[[], Iterable[str]], *, hint: str = "") -> None:
    made = "Make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
    setting = SecretSetting(variable, least_bytes, secrets, f"{hint} {made}".strip())
    _registered[variable] = setting


def all_settings() -> list[SecretSetting]:
    """Every registered variable, by name."""
    return [_registered[variable] for variable in sorted(_registered)]
