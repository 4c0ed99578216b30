"""The table of limits in docs/security.md says what the settings and the views say."""

from django.conf import settings

from accounts.conf import conf
from core.api import ratelimits
from core.api.throttles import WRITES, throttles_of
from core.conf import COUNT_IN_DATABASE
from realtime.conf import conf as realtime_conf
from realtime.socket_commands import COMMANDS
from tests.contract.test_declared_rates import all_views, api_writes

KEYS = {
    "network": "client network",
    "network_and_email": "client network and address",
    "network_and_account": "client network and account",
    "user": "user",
    "session": "session",
    "server_key": "server key",
    "session_of_token": "session",
}
# Limits that a service counts, because they depend on what it finds: by what, and where.
IN_SERVICES = {
    "code_mails_known": ("address", "code mails asked for from networks that the account knows"),
    "code_mails_unknown": ("address", "code mails asked for from all other networks"),
    "notice_mails": ("address", "mails about a sign-up with a registered address"),
    "start_conversation": ("user", "new conversations"),
    "call_invite": ("user", "`call.invite`"),
    "call_invite_unanswered": ("caller and person called", "`call.invite` to a person who never wrote back"),
}
SILENT = {"code_mails_known", "code_mails_unknown", "notice_mails"}
MORE_PLACES = {
    "login": ["sign-in to the support pages"],
    "login_network": ["sign-in to the support pages"],
    "writes": ["every other write, the support pages' too"],
    "email_undo": ["the page behind the link"],
}


def span(seconds: int) -> str:
    names = {60: "a minute", 3600: "an hour", 86_400: "a day"}
    return names.get(seconds, f"in {seconds} seconds")


def declared() -> dict[str, tuple[str, list[str]]]:
    """Scope → what it is counted by, and the routes and commands that declare it."""
    declared_rates: dict[str, tuple[str, list[str]]] = {
        scope: (by, [where]) for scope, (by, where) in IN_SERVICES.items()
    }
    for path, pattern in all_views():
        view, actions = getattr(pattern.callback, "cls", None), getattr(pattern.callback, "actions", None)
        for method, action in (actions or {}).items():
            for throttle in throttles_of(getattr(view, action, None), method):
                by, places = declared_rates.setdefault(throttle.scope, (KEYS[throttle.by.__name__], []))
                route = f"`{method.upper()} {path.removeprefix('api/v1/').replace('<str:', '<')}`"
                if throttle != WRITES and route not in places and method != "head":
                    places.append(route)
    for name, command in COMMANDS.items():
        if command.rate is not None:
            declared_rates[command.rate][1].append(f"`{name}`")
    for scope, places in MORE_PLACES.items():
        declared_rates[scope][1].extend(places)
    return declared_rates


def rates_table() -> list[str]:
    rows = ["| limit | counted by | where | how many | beyond it | without Redis |", "|---|---|---|---|---|---|"]
    declared_rates = declared()
    # Accounts stand first: what guards secrets.
    prefixes = ("ACCOUNTS", "CORE", "MESSAGING", "NOTIFICATIONS", "REALTIME", "INTEGRATIONS")
    for scope in [scope for prefix in prefixes for scope in ratelimits.scopes(prefix)]:
        by, places = declared_rates[scope]
        rates = ratelimits.rates_of(scope)
        many = ", ".join(f"{allowed} {span(seconds)}" for allowed, seconds, _ in rates)
        beyond = "nothing is sent, the answer is the same" if scope in SILENT else "429 `rate_limited`"
        without = "database" if rates[0][2] == COUNT_IN_DATABASE else "no limit"
        rows.append(f"| `{scope}` | {by} | {', '.join(places)} | {many} | {beyond} | {without} |")
    return rows


def counts_table() -> list[str]:
    steps = ", ".join(f"{wrong} → {seconds // 60} min" for wrong, seconds in conf.LOCK_STEPS)
    longest = conf.LOCK_STEPS[-1][1] // 60
    day = conf.WRONG_SECOND_PASSWORDS_A_DAY
    return [
        "| limit | counted by | how many | beyond it |",
        "|---|---|---|---|",
        f"| wrong passwords in a row | known network; all other networks together | {steps}, every {conf.LOCK_EVERY} more → {longest} min | 429 `account_locked` |",
        f"| wrong passwords of a trusted device during a wait | device | {conf.TRUSTED_DEVICE_TRIES} an hour | 429 `account_locked` |",
        f"| tries of a mailed code | client network | {conf.CODE_TRIES} a code | 400 `invalid_otp` |",
        f"| tries of a mailed code | code | {conf.CODE_TRIES_IN_ALL} in all | 400 `invalid_otp` |",
        f"| tries of a second step | sign-in | {conf.TWO_STEP_TRIES} | 401 `token_revoked` |",
        f"| wrong second passwords | account | {day} a day | 429 `account_locked` |",
        f"| wrong app codes of staff | client network | {conf.STAFF_CODE_TRIES} an hour | 429 `account_locked`, as a page |",
        f"| wrong app codes of staff | all networks together that the account does not know | {conf.WRONG_STAFF_CODES_A_DAY} a day | 429 `account_locked`, as a page |",
        f"| wrong passwords for one action | action token | {conf.ACTION_TOKEN_TRIES} | 403 `action_token_invalid` |",
        f"| commands on a socket | socket | {realtime_conf.COMMANDS_PER_SECOND:.0f} a second, {realtime_conf.COMMANDS_BURST} at once | `rate_limited`, then closed with 4429 |",
        f"| sockets | user | {realtime_conf.SOCKETS_PER_USER} | the oldest is closed with 4409 |",
    ]


def test_the_tables_say_what_is_configured():
    text = (settings.BASE_DIR / "docs" / "security.md").read_text()
    for table in (rates_table(), counts_table()):
        written = "\n".join(table)
        assert written in text, f"docs/security.md should have:\n{written}"


def test_every_scope_is_used_somewhere():
    assert set(declared()) == set(ratelimits.scopes())
    assert api_writes()
