"""Sessions, trusted devices, one-time tokens of unfinished steps, and login lockouts of networks and unknown addresses."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from enum import StrEnum, auto
from typing import Any, NamedTuple, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.conf import DEVICE_NAME_LENGTH, conf
from accounts.models.people import PasswordLock, User
from accounts.tokens import new_opaque_token, opaque_digest
from core.text import row_name

M = TypeVar("M", bound=models.Model)

# No user has this id: for an address without an account the same statements run and find nothing.
NO_USER = 0


class Vouches(NamedTuple):
    """Whether an ended session still makes its device and network familiar."""

    # A sign-in by the same program from the same network is not announced.
    device: bool
    # Its network is one that the account knows.
    network: bool
    # Only if the session had begun so many days before it ended.
    after_days: int = 0


# By the reason of the end. "" is a session that is live or has expired. A reset ends all sessions, also that of an
# intruder, which is rarely a week old when the owner resets the password.
VOUCHING = {
    "": Vouches(device=True, network=True),
    "logout": Vouches(device=True, network=True),
    "password_reset": Vouches(device=True, network=True, after_days=7),
    # Ended by its user as unknown, or with a credential that someone else may have known.
    "revoked": Vouches(device=False, network=False),
    "device_removed": Vouches(device=False, network=False),
    "password_changed": Vouches(device=False, network=False),
    "email_change_undone": Vouches(device=False, network=False),
    "reuse": Vouches(device=False, network=False),
    # Begun before the address was confirmed, perhaps by someone else who had registered it.
    "confirmed": Vouches(device=False, network=False),
    "contested": Vouches(device=False, network=False),
    "server_key_revoked": Vouches(device=False, network=False),
    # Ended by staff.
    "blocked": Vouches(device=False, network=False),
    "staff": Vouches(device=False, network=False),
    "second_factor_removed": Vouches(device=False, network=False),
    "account_deleted": Vouches(device=False, network=False),
    "account_erased": Vouches(device=False, network=False),
}


# Of sessions that were signed out before the last change of the password, an intruder's may be one: as after a reset.
DAYS_BEFORE_A_NEW_PASSWORD = 7


def _vouching(question: str) -> Q:
    """Sessions that vouch for a "device" or a "network"."""
    condition = Q(ended_at=None)
    for reason, vouches in VOUCHING.items():
        if reason and getattr(vouches, question):
            ended = Q(ended_reason=reason)
            if vouches.after_days:
                ended &= Q(created_at__lte=F("ended_at") - timedelta(days=vouches.after_days))
            condition |= ended
    changed_at = F("user__password_changed_at")
    has_same_password = Q(user__password_changed_at=None) | Q(ended_at=None) | Q(ended_at__gte=changed_at)
    return condition & (has_same_password | Q(created_at__lte=changed_at - timedelta(days=DAYS_BEFORE_A_NEW_PASSWORD)))


class TrustedDeviceQuerySet(models.QuerySet["TrustedDevice"]):
    def live(self, now: datetime | None = None) -> Self:
        """Devices that may skip the second step at `now`."""
        return self.filter(expires_at__gt=now or timezone.now())

    def of(self, user: User | None, token: str) -> TrustedDevice | None:
        """The live device of this user behind `token`; None without one. The same statement without a user."""
        if not token:
            return None
        return self.live().filter(user_id=NO_USER if user is None else user.id, digest=opaque_digest(token)).first()


class SessionQuerySet(models.QuerySet["Session"]):
    def not_ended(self) -> Self:
        """Sessions that were not ended, but may have expired."""
        return self.filter(ended_at=None)

    def live(self, now: datetime | None = None) -> Self:
        """Sessions that accept a token at `now`; the token has an expiry of its own."""
        return self.not_ended().filter(expires_at__gt=now or timezone.now())

    def vouching_for_devices(self) -> Self:
        """Sessions whose program and network are familiar: a sign-in like them is not announced."""
        return self.filter(_vouching("device"))

    def vouching_for_networks(self, now: datetime | None = None) -> Self:
        """Sessions whose network the account knows; one that ended in another way counts while its trusted device lives."""
        trusted = TrustedDevice.objects.live(now).filter(id=OuterRef("trusted_device_id"))
        return self.filter(_vouching("network") | Q(Exists(trusted)))

    def signed_in(self, now: datetime | None = None) -> Self:
        """Live sessions whose newest token has not expired, as the user's list shows them."""
        now = now or timezone.now()
        return self.live(now).filter(token_expires_at__gt=now)


class TrustedDevice(models.Model):
    """A device that may skip the second step; its token is stored hashed."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="trusted_devices", verbose_name=_("user")
    )
    digest = models.CharField(max_length=64, unique=True)
    device_name = models.CharField(_("device"), max_length=DEVICE_NAME_LENGTH, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    last_used_at = models.DateTimeField(_("last used at"), default=timezone.now)
    expires_at = models.DateTimeField(_("expires at"))
    objects = TrustedDeviceQuerySet.as_manager()

    class Meta:
        verbose_name = _("trusted device")
        verbose_name_plural = _("trusted devices")

    __str__ = row_name


class Session(models.Model):
    """A signed-in session. Every request reads its row with the user, so ending the session ends the token."""

    class Kind(models.TextChoices):
        API = "api", _("app or website")
        ADMIN = "admin", _("support pages")

    # A session of the admin has no token: the admin's cookie names its row.
    kind = models.CharField(_("where"), max_length=10, choices=Kind.choices, default=Kind.API)
    sid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="sessions", verbose_name=_("user"), db_index=False
    )
    trusted_device = models.ForeignKey(TrustedDevice, models.SET_NULL, null=True, blank=True)
    generation = models.PositiveIntegerField(default=1)
    # Tokens of earlier generations were issued before a credential changed: they are refused, without a grace period.
    oldest_generation = models.PositiveIntegerField(default=1)
    # When the newest generation was first used: from then on the one before it has a minute left.
    generation_used_at = models.DateTimeField(null=True, blank=True)
    device_name = models.CharField(_("device"), max_length=DEVICE_NAME_LENGTH, blank=True)
    ip = models.GenericIPAddressField(_("IP address"), null=True, blank=True)
    user_agent = models.CharField(_("browser or app"), max_length=400, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    last_used_at = models.DateTimeField(_("last used at"), default=timezone.now)
    token_expires_at = models.DateTimeField(_("token expires at"))
    expires_at = models.DateTimeField(_("expires at"))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    ended_reason = models.CharField(_("why it ended"), max_length=40, blank=True)
    # The server key that opened it without a password: its name, and the prefix that tells two keys of one name apart.
    opened_by = models.CharField(_("opened by"), max_length=60, blank=True)
    opened_by_key = models.CharField(max_length=8, blank=True)
    # After a recovery code: until then a new second password needs no old one.
    second_password_free_until = models.DateTimeField(null=True, blank=True)
    objects = SessionQuerySet.as_manager()

    class Meta:
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        indexes = [
            models.Index(fields=["user", "-last_used_at"], name="session_user_recent"),
            models.Index(fields=["token_expires_at"], name="session_expiry"),
            models.Index(fields=["opened_by"], condition=~Q(opened_by=""), name="session_opened_by"),
        ]

    __str__ = row_name

    def is_live(self, now: datetime) -> bool:
        """SessionQuerySet.live for a row that was read."""
        return self.ended_at is None and self.expires_at > now

    def accepts(self, generation: int, now: datetime) -> bool:
        """Whether the session lives and no credential has changed since a token of this generation was issued."""
        return self.is_live(now) and generation >= self.oldest_generation


class OneTimeQuerySet(models.QuerySet[M]):
    """Tokens that are used once."""

    def unused(self) -> Self:
        return self.filter(used_at=None)

    def live(self, now: datetime | None = None) -> Self:
        return self.unused().filter(expires_at__gt=now or timezone.now())

    def end(self) -> None:
        """Marks the unused tokens as used, so that they are revoked, not unknown."""
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

    def of(self, token: str, kind: str, **issued_for: Any) -> OneTimeToken | None:
        """The row of a token with its user, whatever its state; None for an unknown one, one of another kind, or one that
        was issued for another user, session or action than these."""
        return self.select_related("user").filter(digest=opaque_digest(token), kind=kind, **issued_for).first()


class Action(StrEnum):
    """What needs an action token."""

    CHANGE_PASSWORD = auto()
    CHANGE_EMAIL = auto()
    TWO_STEP_ENABLE = auto()
    TWO_STEP_CHANGE = auto()
    TWO_STEP_DISABLE = auto()
    RECOVERY_CODES = auto()
    EXPORT_DATA = auto()
    DELETE_ACCOUNT = auto()


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


class UnknownAddress(PasswordLock):
    """The login lockout of an address without an account: sign-in replies the same as for an account."""

    key = models.CharField(max_length=64, unique=True, help_text=_("keyed digest of the address"))
    touched_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("unknown address")


class NetworkLock(PasswordLock):
    """Wrong passwords from one known network of the account; other networks are counted on the account."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="network_locks", db_index=False)
    network = models.CharField(max_length=45)

    class Meta:
        verbose_name = _("login lockout of a known network")
        constraints = [models.UniqueConstraint(fields=["user", "network"], name="networklock_once")]
