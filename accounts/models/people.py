"""Users with their account status, login lockouts, and blocks between users."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import PermissionsMixin
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.db.models import Exists, F, Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.exceptions import AccountBlocked, EmailTaken, TokenRevoked, UsernameTaken
from core.database import compiled
from core.request_context import prefer_language
from core.text import display_name, fold, new_username, normalise_address, row_name


class UserQuerySet(models.QuerySet["User"]):
    def verified(self) -> Self:
        """Users who have confirmed their address."""
        return self.filter(email_verified_at__isnull=False)

    def unverified(self) -> Self:
        return self.filter(email_verified_at=None)

    def not_erased(self) -> Self:
        return self.filter(erased_at=None)

    def blocked(self, now: datetime | None = None) -> Self:
        """Users blocked by staff at `now`: as User.is_blocked and accounts.sql.is_active."""
        return self.filter(_blocked(now))

    def active(self, now: datetime | None = None) -> Self:
        """Users not blocked by staff at `now`."""
        return self.exclude(_blocked(now))

    def contactable(self) -> Self:
        """Users others can find and contact: confirmed, no deletion scheduled, not blocked by staff."""
        return self.verified().active().filter(erase_after=None)


def _blocked(now: datetime | None) -> Q:
    return Q(blocked_at__isnull=False) & (Q(blocked_until=None) | Q(blocked_until__gt=now or timezone.now()))


class UserManager(BaseUserManager.from_queryset(UserQuerySet)):
    def add(self, user: "User") -> None:
        """Saves a new account, with a free username if it has none. EmailTaken, UsernameTaken."""
        chosen = user.username
        for _attempt in range(8):
            user.username = chosen or new_username(user.first_name)
            try:
                with transaction.atomic():
                    user.save(force_insert=True)
                return
            except IntegrityError as error:
                if self.filter(email=user.email).exists():
                    raise EmailTaken from error
                if chosen:
                    raise UsernameTaken from error
        raise UsernameTaken

    def lock(self, user_id: int) -> "User":
        """The user as stored now, locked until the transaction ends. DoesNotExist."""
        user = _locked.first(user_id)
        if user is None:
            raise self.model.DoesNotExist
        return user

    def lock_active(self, user_id: int) -> "User":
        """The same for a change by the user: TokenRevoked or AccountBlocked if the account was erased or blocked since the
        request was authenticated."""
        user = _locked.first(user_id)
        if user is None or user.erased_at is not None:
            raise TokenRevoked
        user.refuse_if_blocked(timezone.now())
        return user

    def lock_with_email(self, user_id: int, email: str) -> "User | None":
        """The same; None if the address is no longer the user's."""
        return self.select_for_update(no_key=True).filter(id=user_id, email=email).first()

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Django's `createsuperuser`: a confirmed account that may enter the admin. ValidationError, EmailTaken."""
        try:
            address = normalise_address(email)
        except ValueError as error:  # Django's check takes `root@localhost`, too
            raise ValidationError(f"{email} is not an e-mail address.") from error
        user = self.model(email=address, is_staff=True, is_superuser=True, email_verified_at=timezone.now(), **fields)
        user.set_password(password)
        self.add(user)
        return user


class PasswordLock(models.Model):
    """Wrong passwords in a row, and the lockout that follows from them."""

    wrong_passwords = models.PositiveIntegerField(_("wrong passwords in a row"), default=0)
    wrong_password_at = models.DateTimeField(null=True, blank=True)
    locked_until = models.DateTimeField(_("locked until"), null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def has_counts(self) -> bool:
        """Whether wrong passwords are counted or a lockout is stored."""
        return bool(self.wrong_passwords) or self.locked_until is not None


class User(PasswordLock, AbstractBaseUser, PermissionsMixin):
    class WhoCanMessage(models.TextChoices):
        EVERYONE = "everyone", _("everyone")
        CONTACTS = "contacts", _("contacts")
        NOBODY = "nobody", _("nobody")

    email = models.EmailField(_("e-mail address"), max_length=254, unique=True)
    username = models.CharField(_("username"), max_length=32)
    first_name = models.CharField(_("first name"), max_length=50)
    last_name = models.CharField(_("last name"), max_length=50, blank=True)
    bio = models.CharField(_("about"), max_length=500, null=True, blank=True)
    # The token of the avatar (accounts.Image), kept here so that reading a user card needs no join.
    avatar_token = models.CharField(max_length=32, blank=True)
    language = models.CharField(_("language"), max_length=35, default="en")
    is_staff = models.BooleanField(_("staff"), default=False)
    created_at = models.DateTimeField(_("joined"), default=timezone.now, editable=False)
    last_seen_at = models.DateTimeField(_("last seen"), null=True, blank=True)
    username_changed_at = models.DateTimeField(_("username changed at"), null=True, blank=True)

    # Search compares these, without case and accents (core.text.fold).
    # Migration 0002 gives them a plain byte order on PostgreSQL, so that one index serves prefix and order.
    username_folded = models.CharField(max_length=64, editable=False)
    first_name_folded = models.CharField(max_length=200, editable=False)
    last_name_folded = models.CharField(max_length=200, editable=False)

    # Account status
    email_verified_at = models.DateTimeField(_("confirmed at"), null=True, blank=True)
    blocked_at = models.DateTimeField(_("blocked at"), null=True, blank=True)
    blocked_until = models.DateTimeField(_("blocked until"), null=True, blank=True)
    blocked_reason = models.CharField(_("reason for the block"), max_length=500, blank=True)
    erase_after = models.DateTimeField(_("to be erased after"), null=True, blank=True)
    # The account is erased; the anonymous row stays for the other participants of its conversations.
    erased_at = models.DateTimeField(_("erased at"), null=True, blank=True)
    # Another client tried to register this address before it was confirmed.
    contested_at = models.DateTimeField(null=True, blank=True)
    # The last time the first password was set after sign-up.
    password_changed_at = models.DateTimeField(_("password changed at"), null=True, blank=True)
    # The last time a password was set by a mailed code alone.
    password_reset_at = models.DateTimeField(_("password reset at"), null=True, blank=True)

    # Failed codes today, over all purposes: many make the next codes longer.
    failed_codes = models.PositiveIntegerField(default=0)
    failed_codes_day = models.DateField(null=True, blank=True)

    # Second step
    second_password = models.CharField(max_length=128, blank=True)
    second_password_hint = models.CharField(max_length=64, blank=True)
    second_password_changed_at = models.DateTimeField(_("second password changed at"), null=True, blank=True)
    wrong_second_passwords = models.PositiveIntegerField(default=0)
    wrong_second_passwords_day = models.DateField(null=True, blank=True)

    # Privacy
    who_can_message = models.CharField(
        _("who can message"), max_length=10, choices=WhoCanMessage.choices, default=WhoCanMessage.EVERYONE
    )
    read_receipts = models.BooleanField(_("read receipts"), default=True)
    show_last_seen = models.BooleanField(_("shows when last seen"), default=True)
    relay_calls = models.BooleanField(_("calls through the relay"), default=False)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = ["first_name"]
    objects = UserManager()

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")
        constraints = [models.UniqueConstraint(Lower("username"), name="user_username_unique")]
        indexes = [
            models.Index(fields=["username_folded"], name="user_search_username"),
            models.Index(fields=["first_name_folded"], name="user_search_first_name"),
            models.Index(fields=["last_name_folded"], name="user_search_last_name"),
            # For the filters of the admin: date joined, blocked, locked.
            models.Index(fields=["created_at"], name="user_joined"),
            models.Index(fields=["blocked_at"], condition=Q(blocked_at__isnull=False), name="user_blocked"),
            models.Index(fields=["locked_until"], condition=Q(locked_until__isnull=False), name="user_locked"),
        ]
        permissions = [
            ("block_user", _("Can block and unblock users")),
            ("unlock_user", _("Can unlock users and resend their code")),
            ("sign_out_user", _("Can end sessions of users")),
            ("reset_two_step", _("Can turn off two-step verification of users")),
            ("export_user", _("Can download data of users")),
            ("erase_user", _("Can erase users")),
        ]

    def __str__(self) -> str:
        return self.username

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Updates the search columns when a name changes."""
        self.username_folded = fold(self.username)[:64]
        self.first_name_folded = fold(self.first_name)[:200]
        self.last_name_folded = fold(self.last_name)[:200]
        changed = kwargs.get("update_fields")
        if changed is not None:
            folded = {f"{name}_folded" for name in ("username", "first_name", "last_name") if name in changed}
            kwargs["update_fields"] = set(changed) | folded
        super().save(*args, **kwargs)

    def check_password(self, raw_password: str | None) -> bool:
        """Django's, but a renewed hash replaces only the one that was compared: the password may have changed since."""
        compared = self.password

        def renew(password: str) -> None:
            renewed = make_password(password)
            if User.objects.filter(pk=self.pk, password=compared).update(password=renewed):
                self.password = renewed

        return check_password(raw_password, compared, renew)

    @property
    def has_verified_email(self) -> bool:
        return self.email_verified_at is not None

    @property
    def two_step_enabled(self) -> bool:
        return bool(self.second_password)

    @property
    def display_name(self) -> str:
        return display_name(self.first_name, self.last_name, self.username)

    def is_blocked(self, now: datetime) -> bool:
        """Blocked by staff at `now` (a block may have an end): UserQuerySet.blocked for a row that was read."""
        return self.blocked_at is not None and (self.blocked_until is None or self.blocked_until > now)

    def refuse_if_blocked(self, now: datetime) -> None:
        """AccountBlocked. For a client that has proved to be this user, so the reply goes on in the account's language."""
        prefer_language(self.language)
        if self.is_blocked(now):
            raise AccountBlocked

    @property
    def is_active(self) -> bool:  # type: ignore[override]
        """Django's flag: the account is not blocked by staff."""
        return not self.is_blocked(timezone.now())


@compiled
def _locked(user_id: int) -> models.QuerySet[User]:
    return User.objects.select_for_update(no_key=True).filter(id=user_id)


class BlockQuerySet(models.QuerySet["Block"]):
    def between(self, user_id: int, other_ids: Collection[int]) -> Self:
        """Blocks between the user and any of the others, in either direction."""
        made = Q(blocker_id=user_id, blocked_id__in=other_ids)
        return self.filter(made | Q(blocked_id=user_id, blocker_id__in=other_ids))


class Block(models.Model):
    blocker = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="blocks_made",
        verbose_name=_("blocked by"),
        db_index=False,
    )
    blocked = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="blocks_met", verbose_name=_("blocked person")
    )
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    objects = BlockQuerySet.as_manager()

    class Meta:
        verbose_name = _("block")
        verbose_name_plural = _("blocks")
        constraints = [
            models.UniqueConstraint(fields=["blocker", "blocked"], name="block_once"),
            models.CheckConstraint(condition=~Q(blocker=F("blocked")), name="block_not_oneself"),
        ]

    __str__ = row_name


def blocked_between(one: Any, other: Any) -> Q:
    """Block.objects.between inside a query on other rows; each of the two is an id or an OuterRef.

    One EXISTS for each direction, so that each is one look into the unique index.
    """
    return Q(Exists(Block.objects.filter(blocker_id=one, blocked_id=other))) | Q(
        Exists(Block.objects.filter(blocker_id=other, blocked_id=one))
    )
