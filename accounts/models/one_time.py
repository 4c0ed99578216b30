"""What is used once and expires: mailed codes, tokens of unfinished steps, recovery codes, and changes of the address."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum, auto
from typing import NamedTuple, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.conf import conf
from accounts.models.people import User
from accounts.models.sign_ins import Session
from accounts.tokens import new_opaque_token, opaque_digest
from core.text import row_name

M = TypeVar("M", bound=models.Model)


class OneTimeQuerySet(models.QuerySet[M]):
    """Of rows that are used once; `live` of those that also expire."""

    def unused(self) -> Self:
        return self.filter(used_at=None)

    def live(self, now: datetime | None = None) -> Self:
        return self.unused().filter(expires_at__gt=now or timezone.now())

    def end(self) -> None:
        """Marks the unused rows as used: their tokens are then revoked, not unknown."""
        self.unused().update(used_at=timezone.now())


class OneTimeTokenQuerySet(OneTimeQuerySet["OneTimeToken"]):
    def issue(self, *, kind: str, user: User, session: Session | None = None, action: str = "") -> str:
        """A new token of `kind`; only its digest is stored."""
        token, digest = new_opaque_token()
        now = timezone.now()
        self.create(
            kind=kind,
            digest=digest,
            user=user,
            session=session,
            action=action,
            created_at=now,
            expires_at=now + timedelta(minutes=limits_of(kind).minutes),
        )
        return token

    def of(self, token: str, kind: str) -> OneTimeToken | None:
        """The row of a token with its user, whatever its state; None for an unknown one or another kind."""
        return self.select_related("user").filter(digest=opaque_digest(token), kind=kind).first()


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
        """Besides these there is one for each action to confirm (accounts.services.step_up.purpose_of)."""

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


class OneTimeToken(models.Model):
    """A one-time token for an unfinished step (the second step, a challenge, a confirmed action); opaque, stored hashed."""

    class Kind(models.TextChoices):
        TWO_STEP = "two_step"
        CHALLENGE = "challenge"
        ACTION = "action"
        # After an undone change of the address: one new first password.
        PASSWORD = "password"

    kind = models.CharField(max_length=10, choices=Kind.choices)
    digest = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="one_time_tokens")
    session = models.ForeignKey("accounts.Session", models.CASCADE, null=True, blank=True)
    action = models.CharField(max_length=40, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    objects = OneTimeTokenQuerySet.as_manager()

    class Meta:
        verbose_name = _("one-time token")
        indexes = [models.Index(fields=["expires_at"], name="onetimetoken_expiry")]

    def is_live(self) -> bool:
        """Neither consumed, nor expired, nor tried too often."""
        return self.used_at is None and self.expires_at > timezone.now() and self.tries < limits_of(self.kind).tries

    def count_try(self) -> bool:
        """Counts one more try, in a statement of its own, before anything is checked with the token.

        False when the token is not live any more; then nothing may be checked.
        """
        live = OneTimeToken.objects.live().filter(id=self.id, tries__lt=limits_of(self.kind).tries)
        return live.update(tries=F("tries") + 1) == 1

    def uncount_try(self) -> None:
        """Takes a counted try back when nothing was checked with it."""
        OneTimeToken.objects.filter(id=self.id, tries__gt=0).update(tries=F("tries") - 1)

    def consume(self) -> bool:
        """Consumes the token. Of many parallel callers exactly one gets True."""
        return OneTimeToken.objects.live().filter(id=self.id).update(used_at=timezone.now()) == 1


class TokenLimits(NamedTuple):
    minutes: int
    tries: int


def limits_of(kind: str) -> TokenLimits:
    """How long a one-time token of this kind is valid, and how many tries it has."""
    return {
        OneTimeToken.Kind.TWO_STEP: TokenLimits(conf.TWO_STEP_TOKEN_MINUTES, conf.TWO_STEP_TRIES),
        OneTimeToken.Kind.CHALLENGE: TokenLimits(conf.CHALLENGE_MINUTES, conf.CODE_TRIES),
        OneTimeToken.Kind.ACTION: TokenLimits(conf.ACTION_TOKEN_MINUTES, conf.ACTION_TOKEN_TRIES),
        OneTimeToken.Kind.PASSWORD: TokenLimits(conf.CHOOSE_PASSWORD_MINUTES, conf.CHOOSE_PASSWORD_TRIES),
    }[OneTimeToken.Kind(kind)]


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
