"""Defaults of this app; a setting `REALTIME_<NAME>` overrides the one of that name."""

from dataclasses import dataclass, field

from core.conf import ALLOW, RatesByScope, prefixed

# Signals of calls
SDP_BYTES = 48 * 1024
CANDIDATE_BYTES = 2 * 1024


@dataclass(frozen=True)
class Defaults:
    # The log
    EVENTS_KEPT_DAYS: int = 14
    EVENTS_KEPT: int = 5000
    CHANGES_LIMIT: int = 100
    CHANGES_MAX: int = 500

    # A socket
    AUTH_SECONDS: float = 5
    PING_SECONDS: int = 25
    LIFE_SECONDS: float = 12 * 3600
    EXPIRING_SECONDS: float = 60
    SOCKETS_PER_USER: int = 10
    # Handshakes of one network, in one process. After a restart all devices of an office come back at once.
    HANDSHAKES_PER_MINUTE: int = 300
    FRAME_BYTES: int = 65_536
    WINDOW_EVENTS: int = 200
    WINDOW_BYTES: int = 512 * 1024
    STUCK_SECONDS: float = 30
    INBOX_FRAMES: int = 32
    BAD_FRAMES: int = 50
    COMMANDS_PER_SECOND: float = 20
    COMMANDS_BURST: int = 60
    BADGE_SECONDS: float = 1

    # A process that holds sockets
    DATABASE_THREADS: int = 4
    # After a restart all clients reconnect. Only so many sign in at once, so that requests keep their share of the
    # database.
    SIGN_INS_AT_ONCE: int = 1
    # How often all sockets of the process are compared with the database, in case a wake-up was lost.
    # Without Redis there are no wake-ups from other processes, so the comparison runs more often.
    SWEEP_SECONDS: float = 20
    SWEEP_SECONDS_EMBEDDED: float = 5
    SOCKET_DEAD_SECONDS: float = 90

    # Wake-ups through Redis
    WAKE_TIMEOUT_SECONDS: float = 0.5
    WAKE_PAUSE_SECONDS: float = 2

    # Calls
    CALL_RING_SECONDS: int = 60
    CALL_CONNECT_SECONDS: int = 30
    CALL_LOST_SECONDS: int = 60
    # How often a process that holds sockets ends overdue calls.
    CALL_SWEEP_SECONDS: float = 2
    CALLS_LIMIT: int = 30
    CALLS_MAX: int = 100
    TURN_URLS: tuple[str, ...] = ()
    TURN_SECRET: str = ""
    TURN_SECONDS: int = 3600
    STUN_URLS: tuple[str, ...] = ()

    RATES: RatesByScope = field(
        default_factory=lambda: {
            "call_invite": (20, 60, ALLOW),
            # By one user, to one user who never replied.
            "call_invite_unanswered": (3, 60, ALLOW),
            # New credentials for the relay during a call.
            "ice_servers": (20, 60, ALLOW),
        }
    )


conf = prefixed("REALTIME", Defaults())
