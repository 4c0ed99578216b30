"""python -m benchmarks.fleet: which part of a fleet is full first, computed from measured costs.

A queueing model, no load: each part has a capacity, every online user asks something of it, and a part beyond
70 % of its capacity counts as full, because queues grow without bound from there on. The defaults are the figures
of docs/sizing.md and common hardware; measure your own and pass them.

    --users 1000000        registered users; repeat it for several sizes
    --http 20 --sockets 4  processes; without them as many as are needed
    --json                 the same as data
"""

import argparse
import json
import math
from dataclasses import asdict, dataclass, fields, replace

DAY = 86_400
# M/M/c queues wait about as long as they serve from here on, and a lost machine must be borne by the others.
FULL_AT = 0.7


@dataclass(frozen=True, slots=True)
class Costs:
    """What one request or event costs; seconds, bytes and counts."""

    # One HTTP worker, the CPU of a request under granian (sizing.md: send 4 ms, list 3.2 ms, unread-count 2.1 ms).
    http_send: float = 0.004
    http_read: float = 0.0032
    # A socket process: a frame relayed (sizing.md: 2,900 a second), and the sockets that it serves (operations.md).
    socket_frame: float = 0.00034
    sockets_a_process: int = 5_000
    # PostgreSQL: CPU of a send and of a read, WAL and disk of a message with its index entries and events.
    database_send: float = 0.0022
    database_read: float = 0.0003
    database_cores: int = 32
    database_flushes: float = 20_000
    connections_http: int = 8
    connections_sockets: int = 4
    connections_deliver: int = 3
    connections_most: int = 500
    message_bytes: int = 1_000
    # Redis: a wake-up published, and the same to each socket process.
    redis_command: float = 0.00001
    # A delivery worker with an instant push service (sizing.md: 2,600 rows a second).
    delivery_row: float = 1 / 2_600
    # The network card of the proxy; a frame or reply with its headers.
    network_bits: float = 10e9
    reply_bytes: int = 2_500


@dataclass(frozen=True, slots=True)
class Habits:
    """What an average user does."""

    daily_share: float = 0.3
    # Of those who come in a day, so many are online in the busiest hour.
    online_share: float = 0.2
    messages_a_day: float = 40
    reads_a_message: float = 3
    # The busiest second against the average of the day.
    peak: float = 3
    push_share: float = 0.7


@dataclass(frozen=True, slots=True)
class Fleet:
    """Processes of each kind; 0 means as many as the load needs."""

    http: int = 0
    sockets: int = 0
    deliver: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """`used` of 1 is the capacity; `needed` is how many of it keep the use below the limit."""

    name: str
    used: float
    needed: int

    @property
    def is_full(self) -> bool:
        return self.used > FULL_AT


@dataclass(frozen=True, slots=True)
class Result:
    users: int
    online: int
    sends: float
    fleet: Fleet
    parts: list[Part]
    gigabytes_a_year: float

    @property
    def first_full(self) -> Part:
        return max(self.parts, key=lambda part: part.used)


def simulate(
    users: int, *, fleet: Fleet | None = None, costs: Costs | None = None, habits: Habits | None = None
) -> Result:
    """The use of every part in the busiest second."""
    fleet, costs, habits = fleet or Fleet(), costs or Costs(), habits or Habits()
    daily = users * habits.daily_share
    online = math.ceil(daily * habits.online_share)
    messages_a_day = daily * habits.messages_a_day
    sends = messages_a_day / DAY * habits.peak
    reads = sends * habits.reads_a_message

    http_cores = sends * costs.http_send + reads * costs.http_read
    # A message goes to the devices of two users; ticks and typing notices double that.
    frames = sends * 4
    socket_cores = frames * costs.socket_frame
    socket_processes = max(_enough(socket_cores), _enough(online / costs.sockets_a_process))
    workers = _enough(sends * habits.push_share * costs.delivery_row)
    sized = Fleet(
        http=fleet.http or _enough(http_cores),
        sockets=fleet.sockets or socket_processes,
        deliver=fleet.deliver or workers,
    )
    connections = (
        sized.http * costs.connections_http
        + sized.sockets * costs.connections_sockets
        + sized.deliver * costs.connections_deliver
    )
    database = (sends * costs.database_send + reads * costs.database_read) / costs.database_cores
    flushes = (sends + sends * habits.push_share) / costs.database_flushes
    # Every socket process subscribes to its own users only: a publish reaches two of them.
    redis = sends * 2 * 3 * costs.redis_command
    network = (sends + reads + frames) * costs.reply_bytes * 8 / costs.network_bits
    used = {
        "http processes": http_cores / sized.http,
        "socket processes, CPU": socket_cores / sized.sockets,
        "socket processes, sockets": online / costs.sockets_a_process / sized.sockets,
        "delivery workers": sends * habits.push_share * costs.delivery_row / sized.deliver,
        "database, CPU": database,
        "database, commits": flushes,
        "database, connections": connections / costs.connections_most,
        "redis": redis,
        "network card": network,
    }
    owned = {"http processes": sized.http, "delivery workers": sized.deliver}
    owned |= {name: sized.sockets for name in used if name.startswith("socket")}
    parts = [Part(name, share, _enough(share * owned.get(name, 1))) for name, share in used.items()]
    return Result(users, online, sends, sized, parts, messages_a_day * 365 * costs.message_bytes / 1e9)


def users_until_full(name: str, *, costs: Costs | None = None, habits: Habits | None = None) -> int:
    """The number of users at which one instance of this part is full, to two digits; by bisection."""
    low, high = 1, 10**12
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        one = Fleet(1, 1, 1) if not name.startswith("database, connections") else Fleet()
        part = next(part for part in simulate(middle, fleet=one, costs=costs, habits=habits).parts if part.name == name)
        low, high = (low, middle) if part.is_full else (middle, high)
    return low


def _enough(load: float) -> int:
    """So many processes keep each below the limit; two at least, so that one may be lost."""
    return max(2, math.ceil(load / FULL_AT))


def two_digits(number: float) -> str:
    digits = max(0, int(math.log10(number)) - 1) if number >= 1 else 0
    return f"{round(number, -digits):,.0f}"


def lines(result: Result) -> list[str]:
    fleet = result.fleet
    rows = [
        f"{result.users:,} users, {result.online:,} online, {result.sends:,.1f} messages/s at the peak:"
        f" {fleet.http} HTTP, {fleet.sockets} socket, {fleet.deliver} delivery processes;"
        f" messages grow by {result.gigabytes_a_year:,.0f} GB a year"
    ]
    for part in sorted(result.parts, key=lambda part: -part.used):
        rows.append(f"  {part.name:26} {part.used:8.1%}{'  full' if part.is_full else ''}")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, action="append")
    for field in fields(Fleet):
        parser.add_argument(f"--{field.name}", type=int, default=0)
    for field in fields(Habits):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=float, default=getattr(Habits(), field.name))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    habits = replace(Habits(), **{field.name: getattr(options, field.name) for field in fields(Habits)})
    fleet = Fleet(options.http, options.sockets, options.deliver)
    results = [simulate(users, fleet=fleet, habits=habits) for users in options.users or (10**4, 10**6, 10**8)]
    full = {part.name: users_until_full(part.name, habits=habits) for part in results[0].parts}
    if options.json:
        print(json.dumps({"sizes": [asdict(result) for result in results], "one_is_full_at": full}, indent=2))
        return
    for result in results:
        print("\n".join(lines(result)), end="\n\n")
    print("One of each is full at so many users:")
    for name, users in sorted(full.items(), key=lambda item: item[1]):
        print(f"  {name:26} {two_digits(users):>16}")


if __name__ == "__main__":
    main()
