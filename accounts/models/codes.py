"""Mailed codes, recovery codes, and the changes of an address that a mailed code confirms."""

from __future__ import annotations

from enum import StrEnum, auto
from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models.sign_ins import OneTimeQuerySet
from core.text import row_name


class EmailChangeQuerySet(models.QuerySet["EmailChange"]):
    def pending(self) -> Self:
        """Changes that wait for the code mailed to the new address."""
        return self.filter(confirmed_at=None, expires_at__gt=timezone.now())

    def undoable(self) -> Self:
        """Confirmed changes that the old address can still undo."""
        return self.filter(confirmed_at__isnull=False, undone_at=None, expires_at__gt=timezone.now())


class Code(models.Model):
    """The current code of a user and purpose, as a keyed digest bound to purpose and address."""

    class Purpose(StrEnum):
        """Besides these there is one for each action to confirm (accounts.sign_in.action_tokens.purpose_of)."""

        SIGNUP = auto()
        RESET = auto()
        TWO_STEP = auto()
        CHANGE_EMAIL = auto()

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="codes", verbose_name=_("user"), db_index=False
    )
    purpose = models.CharField(_("purpose"), max_length=40)
    address = models.EmailField(_("address"), max_length=254)
    digest = models.CharField(max_length=64)
    # From all networks together; CodeTries holds those of each.
    tries = models.PositiveSmallIntegerField(_("attempts"), default=0)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    expires_at = models.DateTimeField(_("expires at"))
    used_at = models.DateTimeField(_("used at"), null=True, blank=True)
    objects = OneTimeQuerySet.as_manager()

    class Meta:
        verbose_name = _("one-time code")
        verbose_name_plural = _("one-time codes")
        constraints = [models.UniqueConstraint(fields=["user", "purpose"], name="code_one_per_purpose")]
        indexes = [models.Index(fields=["expires_at"], name="code_expiry")]

    __str__ = row_name


class CodeTries(models.Model):
    """Tries of one network at one issued code, which its digest names: the row of a code is reused."""

    code = models.ForeignKey(Code, models.CASCADE, related_name="tries_by_network", db_index=False)
    digest = models.CharField(max_length=64)
    network = models.CharField(max_length=45)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("attempts from a network")
        constraints = [models.UniqueConstraint(fields=["code", "digest", "network"], name="codetries_once")]


class RecoveryCode(models.Model):
    """One of ten codes that replace the second password once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="recovery_codes", db_index=False)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(null=True, blank=True)
    objects = OneTimeQuerySet.as_manager()

    class Meta:
        verbose_name = _("recovery code")
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="recoverycode_unique")]


class EmailChange(models.Model):
    """A pending change of the address; once confirmed, the old address can undo it for a week."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="email_changes")
    old_email = models.EmailField(max_length=254)
    new_email = models.EmailField(max_length=254)
    undo_digest = models.CharField(max_length=64, blank=True, db_index=True)
    created_at = models.DateTimeField(default=timezone.now)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()
    objects = EmailChangeQuerySet.as_manager()

    class Meta:
        verbose_name = _("change of address")
