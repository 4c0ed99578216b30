"""System checks of the settings of push, mail and events, with hints. They open no connection."""

import json
from email.utils import parseaddr
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

from notifications.conf import PUSH_PROVIDERS, conf, loopback_endpoint
from notifications.services.ingestion import sources


@checks.register()
def push(**options: Any) -> list[checks.CheckMessage]:
    if conf.PUSH_BACKEND not in PUSH_PROVIDERS:
        hint = f"Choose one of {', '.join(PUSH_PROVIDERS)}."
        return [checks.Error(f"PUSH_BACKEND is {conf.PUSH_BACKEND!r}.", hint=hint, id="notifications.E001")]
    if conf.PUSH_BACKEND == "fcm" and not _is_service_account(conf.FCM_CREDENTIALS):
        text = "PUSH_BACKEND=fcm without a service-account file."
        hint = "Point PUSH_FCM_CREDENTIALS to the JSON file of a service account of your project."
        return [checks.Error(text, hint=hint, id="notifications.E002")]
    return []


@checks.register(checks.Tags.security)
def push_endpoint(**options: Any) -> list[checks.CheckMessage]:
    """Access tokens and pushes go to this address, so a server does not start with any other host."""
    if not conf.FCM_ENDPOINT:
        return []
    try:
        loopback_endpoint(conf.FCM_ENDPOINT)
    except ImproperlyConfigured as error:
        hint = "Leave PUSH_FCM_ENDPOINT unset to reach FCM itself."
        return [checks.Error(str(error), hint=hint, id="notifications.E003")]
    return []


@checks.register()
def sender(**options: Any) -> list[checks.CheckMessage]:
    try:
        validate_email(parseaddr(settings.DEFAULT_FROM_EMAIL)[1])
    except ValidationError:
        text = f"DEFAULT_FROM_EMAIL is {settings.DEFAULT_FROM_EMAIL!r}: no mail server takes that."
        hint = "Set DEFAULT_FROM_EMAIL=Name <name@example.com>."
        return [checks.Error(text, hint=hint, id="notifications.E004")]
    return []


@checks.register(deploy=True)
def production(**options: Any) -> list[checks.CheckMessage]:
    problems: list[checks.CheckMessage] = []
    if conf.PUSH_BACKEND in ("console", "outbox"):
        text = f"PUSH_BACKEND={conf.PUSH_BACKEND} keeps pushes on this machine."
        hint = "Set PUSH_BACKEND=fcm with PUSH_FCM_CREDENTIALS, or off."
        problems.append(checks.Warning(text, hint=hint, id="notifications.W001"))
    if "smtp" not in str(conf.MAIL_TRANSPORT.get("BACKEND", "")):
        hint = "Set EMAIL_URL=smtp://user:password@host:587."
        problems.append(checks.Warning("Mail does not leave this machine.", hint=hint, id="notifications.W002"))
    return problems


@checks.register(checks.Tags.security)
def event_sources(**options: Any) -> list[checks.CheckMessage]:
    try:
        sources()
    except ImproperlyConfigured as error:
        return [checks.Error(str(error), hint="Correct EVENT_SOURCES.", id="notifications.E010")]
    return []


def _is_service_account(path: str) -> bool:
    try:
        account = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(account, dict) and account.get("type") == "service_account"
