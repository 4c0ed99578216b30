"""System checks of the settings: each names its remedy, none connects anywhere."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured

from accounts.conf import ALLOW, COUNT_IN_DATABASE, conf
from accounts.tokens import MIN_SECRET_BYTES, key_ring


@register(Tags.security)
def token_keys(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """accounts.E001: the key ring of the session token."""
    try:
        key_ring()
    except ImproperlyConfigured as error:
        hint = f"Set TOKEN_KEYS to kid:secret[,kid:secret…], newest first, each secret of at least {MIN_SECRET_BYTES} bytes."
        return [Error(str(error), hint=hint, id="accounts.E001")]
    return []


@register(Tags.security)
def secrets_are_apart(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """accounts.E002: one leaked secret must not be all of them."""
    if settings.SECRET_KEY and settings.SECRET_KEY in conf.TOKEN_KEYS:
        hint = "Give TOKEN_KEYS a random secret of its own."
        return [Error("The session token is signed with Django's SECRET_KEY.", hint=hint, id="accounts.E002")]
    return []


@register(Tags.security)
def rates(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """accounts.E003: every rate is (allowed, seconds, what to do when the counter is dead)."""
    found: list[CheckMessage] = []
    rates_by_scope: dict[str, Any] = dict(conf.RATES)
    for scope, value in rates_by_scope.items():
        if not (_is_rate(value) or (value and all(_is_rate(rate) for rate in value))):
            hint = f'Write it as (5, 60, "{COUNT_IN_DATABASE}") or (5, 60, "{ALLOW}"), or as several of these.'
            found.append(Error(f"ACCOUNTS_RATES[{scope!r}] is no rate.", hint=hint, id="accounts.E003"))
    return found


@register(Tags.security)
def trusted_proxies(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """accounts.E004: how many proxies append to X-Forwarded-For."""
    if not isinstance(conf.TRUSTED_PROXIES, int) or conf.TRUSTED_PROXIES < 0:
        hint = "Set TRUSTED_PROXIES to the number of proxies of yours between the client and this server."
        return [Error("TRUSTED_PROXIES is no count.", hint=hint, id="accounts.E004")]
    return []


@register(Tags.security, deploy=True)
def rates_are_on(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """accounts.W001: rates are for tests and benchmarks to switch off."""
    if not settings.RATELIMIT_ENABLE:
        hint = "Remove RATELIMIT_ENABLE=0 from the environment."
        return [Warning("Request rates are switched off.", hint=hint, id="accounts.W001")]
    return []


@register(Tags.security, deploy=True)
def passwords_are_looked_at(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """accounts.W002: common passwords and short ones are refused by Django's validators."""
    validators: Any = settings.AUTH_PASSWORD_VALIDATORS
    names = {entry["NAME"].rpartition(".")[2] for entry in validators}
    missing = {"MinimumLengthValidator", "CommonPasswordValidator"} - names
    if missing:
        hint = f"Add {', '.join(sorted(missing))} to AUTH_PASSWORD_VALIDATORS."
        return [Warning("Weak passwords are accepted.", hint=hint, id="accounts.W002")]
    return []


def _is_rate(rate: Any) -> bool:
    return (
        isinstance(rate, tuple)
        and len(rate) == 3
        and all(isinstance(number, int) and number > 0 for number in rate[:2])
        and rate[2] in (ALLOW, COUNT_IN_DATABASE)
    )
