"""System checks of the settings. Each has a hint; none opens a connection."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured

from accounts.tokens import key_ring
from core.api import ratelimits
from core.conf import ALLOW, COUNT_IN_DATABASE, project
from core.conf import conf as core_conf
from core.secret_settings import KEY_BYTES


@register(Tags.security)
def token_keys(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """accounts.E001: the key ring of the session token. accounts.E002: its secrets are not Django's, so that one leaked
    secret does not reveal another."""
    try:
        ring = key_ring()
    except ImproperlyConfigured as error:
        hint = f"Set TOKEN_KEYS to kid:secret[,kid:secret…], newest first, each secret of at least {KEY_BYTES} bytes."
        return [Error(str(error), hint=hint, id="accounts.E001")]
    if any(key.signing_key == settings.SECRET_KEY for key in ring.values()):
        hint = "Give TOKEN_KEYS a random secret of its own."
        return [Error("The session token is signed with Django's SECRET_KEY.", hint=hint, id="accounts.E002")]
    return []


@register(Tags.security)
def rates(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """accounts.E003, accounts.E006: every rate is (allowed, seconds, what to do without the counter), of a known scope."""
    problems: list[CheckMessage] = []
    for prefix, scope, value in ratelimits.overrides():
        if scope not in ratelimits.scopes(prefix):
            hint = f"The scopes are: {', '.join(ratelimits.scopes(prefix))}."
            problems.append(Error(f"{prefix}_RATES names the unknown scope {scope!r}.", hint=hint, id="accounts.E006"))
        elif not (_is_rate(value) or (value and all(_is_rate(rate) for rate in value))):
            hint = f'Write it as (5, 60, "{COUNT_IN_DATABASE}") or (5, 60, "{ALLOW}"), or as several of these.'
            problems.append(Error(f"{prefix}_RATES[{scope!r}] is not a rate.", hint=hint, id="accounts.E003"))
    return problems


@register(Tags.security)
def trusted_proxies(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """accounts.E004: how many proxies append to X-Forwarded-For."""
    if not isinstance(core_conf.TRUSTED_PROXIES, int) or core_conf.TRUSTED_PROXIES < 0:
        hint = "Set TRUSTED_PROXIES to the number of proxies of yours between the client and this server."
        return [Error("TRUSTED_PROXIES must be a whole number.", hint=hint, id="accounts.E004")]
    return []


@register(Tags.security, deploy=True)
def rates_enabled(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """accounts.W001: only tests and benchmarks switch rates off."""
    if not project.RATELIMIT_ENABLE:
        hint = "Remove RATELIMIT_ENABLE=0 from the environment."
        return [Warning("Request rates are switched off.", hint=hint, id="accounts.W001")]
    return []


@register(Tags.security, deploy=True)
def password_validators(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """accounts.W002: Django's validators refuse common and short passwords."""
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
