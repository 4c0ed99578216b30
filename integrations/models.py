"""Server keys, which the team's own server sends instead of a user's token, and the events for that server."""

import ipaddress
import uuid
from datetime import datetime
from enum import StrEnum
from typing import Self

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

NAME_LENGTH = 60


class Scope(StrEnum):
    """What a key may do."""

    USERS_READ = "users:read"
    USERS_WRITE = "users:write"
    SESSIONS_CREATE = "sessions:create"
    MESSAGES_WRITE = "messages:write"
    EVENTS_READ = "events:read"


class ServerKeyQuerySet(models.QuerySet["ServerKey"]):
    def live(self) -> Self:
        return self.filter(revoked_at=None)


class ServerKey(models.Model):
    """A key of the team's own server. Only its digest is stored. While a key is replaced, two have the same name."""

    name = models.CharField(_("name"), max_length=NAME_LENGTH)
    # The first letters of the key, which tell it apart in lists and logs.
    prefix = models.CharField(_("beginning"), max_length=8)
    digest = models.CharField(max_length=64)
    scopes = models.JSONField(_("scopes"), default=list)
    # As written by ipaddress. Empty: a request may come from anywhere.
    networks = models.JSONField(_("networks"), default=list, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    last_used_at = models.DateTimeField(_("last used at"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)
    objects = ServerKeyQuerySet.as_manager()

    class Meta:
        verbose_name = _("server key")
        verbose_name_plural = _("server keys")
        permissions = [("revoke_serverkey", _("Can revoke server keys"))]
        constraints = [
            models.UniqueConstraint(fields=["digest"], name="serverkey_digest"),
            models.UniqueConstraint(fields=["prefix"], name="serverkey_prefix"),
        ]

    def __str__(self) -> str:
        return f"{self.name} (sk_{self.prefix}_…)"

    @property
    def actor(self) -> str:
        """The name of the key in the audit log."""
        return f"server key {self.name}"

    def may_come_from(self, address: str | None) -> bool:
        """Whether a request from this address may use the key."""
        if not self.networks:
            return True
        return address is not None and any(
            ipaddress.ip_address(address) in ipaddress.ip_network(network) for network in self.networks
        )

    def was_used(self, now: datetime, every_seconds: int) -> bool:
        """Whether to store this use: the last stored one is old enough."""
        return self.last_used_at is None or (now - self.last_used_at).total_seconds() >= every_seconds


class EventQuerySet(models.QuerySet["Event"]):
    def unnumbered(self) -> Self:
        """Committed events that have no place in the log yet."""
        return self.filter(number=None)


# Why an event gets its number after the commit: docs/decisions/own-server.md#0107
class Event(models.Model):
    """Something that happened, with ids alone: the rest is read when the event is sent or read.

    A row is written in the transaction of its cause. Transactions commit in another order than their rows have ids, so the
    place in the log is a number that the row gets after the commit (services.event_log.give_numbers).
    """

    number = models.BigIntegerField(_("number"), null=True, blank=True)
    # Stays the same over all attempts, and in a restored database is never given again.
    uid = models.UUIDField(default=uuid.uuid4, editable=False)
    type = models.CharField(_("type"), max_length=40)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(_("happened at"), default=timezone.now)
    objects = EventQuerySet.as_manager()

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        constraints = [
            models.UniqueConstraint(fields=["number"], condition=models.Q(number__isnull=False), name="event_number")
        ]
        indexes = [models.Index(fields=["id"], condition=models.Q(number=None), name="event_unnumbered")]

    def __str__(self) -> str:
        return f"{self.type} {self.number or self.pk}"

    @property
    def webhook_id(self) -> str:
        """The same for all targets and attempts."""
        return f"evt_{self.uid.hex}"


class EventLog(models.Model):
    """The one row of the log: its lock lets one transaction at a time give numbers."""

    last_number = models.BigIntegerField(default=0)
    # Events up to this number have been deleted.
    expired_number = models.BigIntegerField(default=0)

    class Meta:
        verbose_name = _("event log")


class ErasedAccount(models.Model):
    """How the team's own server called an account that was erased, as long as events may name it."""

    user_id = models.BigIntegerField(primary_key=True)
    external_id = models.CharField(max_length=128, null=True, blank=True)
    erased_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("erased account")


class WebhookTarget(models.Model):
    """The state of a target of WEBHOOKS. A target that answers 410 is switched off until an operator switches it on."""

    name = models.CharField(_("name"), max_length=40, unique=True)
    switched_off_at = models.DateTimeField(_("switched off at"), null=True, blank=True)
    reason = models.CharField(_("reason"), max_length=300, blank=True)

    class Meta:
        verbose_name = _("webhook target")
        verbose_name_plural = _("webhook targets")
        permissions = [("enable_webhook", _("Can switch webhook targets on"))]

    def __str__(self) -> str:
        return self.name
