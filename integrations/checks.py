"""System checks of the settings of this app. They open no connection."""

from typing import Any

from django.core import checks
from django.core.exceptions import ImproperlyConfigured

from integrations import tokens
from integrations.conf import conf
from integrations.targets import FORM, targets


@checks.register(checks.Tags.security)
def webhooks(**options: Any) -> list[checks.CheckMessage]:
    """With a malformed target no server starts."""
    try:
        targets()
    except ImproperlyConfigured as error:
        return [checks.Error(str(error), hint=FORM, id="integrations.E001")]
    return []


@checks.register(checks.Tags.security)
def identity_keys(**options: Any) -> list[checks.CheckMessage]:
    """A server that issues identity tokens must not start without a readable key, or with two audiences of one name."""
    if not conf.IDENTITY_AUDIENCES:
        return []
    if not conf.IDENTITY_KEYS and not conf.IDENTITY_KEYS_ARE_MADE:
        text = "IDENTITY_AUDIENCES is set, and IDENTITY_KEYS is not."
        hint = "Make a key with: openssl ecparam -name prime256v1 -genkey -noout -out identity.pem"
        return [checks.Error(text, hint=hint, id="integrations.E002")]
    try:
        tokens.keys()
    except ImproperlyConfigured as error:
        hint = "IDENTITY_KEYS are paths of PEM files, split by commas, the newest first."
        return [checks.Error(str(error), hint=hint, id="integrations.E003")]
    if len(set(conf.IDENTITY_AUDIENCES)) != len(conf.IDENTITY_AUDIENCES):
        return [checks.Error("IDENTITY_AUDIENCES names one twice.", hint="Name each once.", id="integrations.E004")]
    return []
