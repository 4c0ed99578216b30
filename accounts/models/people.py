"""Users with their account status, and login lockouts."""

from contextlib import suppress
from datetime import datetime
from typing import Any, Self

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import PermissionsMixin
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.conf import (
    BIO_LENGTH,
    EXTERNAL_ID_LENGTH,
    HINT_LENGTH,
    NAME_LENGTH,
    REASON_LENGTH,
    USERNAME_LENGTHS,
)
from accounts.exceptions import AccountBlocked, EmailTaken, ExternalIdTaken, TokenRevoked, UsernameTaken
from accounts.models.searching import SearchableNames
from accounts.text import display_name, new_username
from core.addresses import normalise_address
from core.characters import clean_name
from core.database.compiled import compiled
from core.request_context import prefer_language
from core.validators import refuse_invisible

# How many random usernames are tried.
USERNAME_ATTEMPTS = 8


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

    def managed(self) -> Self:
        """Users whom the team's own server may see and change: neither erased nor staff."""
        return self.not_erased().filter(is_staff=False, is_superuser=False)


def _blocked(now: datetime | None) -> Q:
    return Q(blocked_at__isnull=False) & (Q(blocked_until=None) | Q(blocked_until__gt=now or timezone.now()))


class UserManager(BaseUserManager.from_queryset(UserQuerySet)):
    def add(self, user: "User") -> None:
        """Saves a new account, with a free username if it has none. EmailTaken, ExternalIdTaken, UsernameTaken."""
        chosen = user.username
        for _attempt in range(USERNAME_ATTEMPTS):
            user.username = chosen or new_username(user.first_name)
            try:
                with transaction.atomic():
                    user.save(force_insert=True)
                return
            except IntegrityError as error:
                if self.filter(email=user.email).exists():
                    raise EmailTaken from error
                if user.external_id is not None and self.filter(external_id=user.external_id).exists():
                    raise ExternalIdTaken from error
                if chosen:
                    raise UsernameTaken from error
        raise UsernameTaken

    def rename(self, user: "User") -> None:
        """Saves the first name, with a free username made of it. UsernameTaken."""
        for _attempt in range(USERNAME_ATTEMPTS):
            user.username = new_username(user.first_name)
            with suppress(IntegrityError), transaction.atomic():
                user.save(update_fields=["first_name", "username"])
                return
        raise UsernameTaken

    def lock(self, user_id: int) -> "User":
        """The user as stored now, locked until the transaction ends. DoesNotExist."""
        user = _locked.first(user_id)
        if user is None:
            raise self.model.DoesNotExist
        return user

    # The account is the first lock of every change by a user: docs/decisions/database.md#0076
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
        user.first_name, user.last_name = clean_name(user.first_name), clean_name(user.last_name)
        refuse_invisible(user.first_name)
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


class User(PasswordLock, SearchableNames, AbstractBaseUser, PermissionsMixin):
    class WhoCanMessage(models.TextChoices):
        EVERYONE = "everyone", _("everyone")
        CONTACTS = "contacts", _("contacts")
        NOBODY = "nobody", _("nobody")

    # Hashes of other services are longer than Django's own.
    password = models.CharField(_("password"), max_length=256)
    email = models.EmailField(_("e-mail address"), max_length=254, unique=True)
    # The id of this user on the team's own server.
    external_id = models.CharField(_("external id"), max_length=EXTERNAL_ID_LENGTH, null=True, blank=True)
    username = models.CharField(_("username"), max_length=USERNAME_LENGTHS[1])
    first_name = models.CharField(_("first name"), max_length=NAME_LENGTH)
    last_name = models.CharField(_("last name"), max_length=NAME_LENGTH, blank=True)
    bio = models.CharField(_("about"), max_length=BIO_LENGTH, null=True, blank=True)
    # The token of the avatar (accounts.Image), kept here so that reading a user card needs no join.
    avatar_token = models.CharField(max_length=32, blank=True)
    language = models.CharField(_("language"), max_length=35, default="en")
    is_staff = models.BooleanField(_("staff"), default=False)
    created_at = models.DateTimeField(_("joined"), default=timezone.now, editable=False)
    last_seen_at = models.DateTimeField(_("last seen"), null=True, blank=True)
    username_changed_at = models.DateTimeField(_("username changed at"), null=True, blank=True)

    # Account status
    email_verified_at = models.DateTimeField(_("confirmed at"), null=True, blank=True)
    blocked_at = models.DateTimeField(_("blocked at"), null=True, blank=True)
    blocked_until = models.DateTimeField(_("blocked until"), null=True, blank=True)
    blocked_reason = models.CharField(_("reason for the block"), max_length=REASON_LENGTH, blank=True)
    erase_after = models.DateTimeField(_("to be erased after"), null=True, blank=True)
    # When the account was erased. The anonymous user stays for the other participants of its conversations.
    erased_at = models.DateTimeField(_("erased at"), null=True, blank=True)
    # Another client tried to register this address before it was confirmed, with these names and this language.
    contested_at = models.DateTimeField(null=True, blank=True)
    contested_first_name = models.CharField(max_length=NAME_LENGTH, blank=True)
    contested_last_name = models.CharField(max_length=NAME_LENGTH, blank=True)
    contested_language = models.CharField(max_length=35, blank=True)
    # The last time the first password was set after sign-up.
    password_changed_at = models.DateTimeField(_("password changed at"), null=True, blank=True)
    # The last time a password was set by a mailed code alone.
    password_reset_at = models.DateTimeField(_("password reset at"), null=True, blank=True)
    # The network that used that code (core.network.network_of).
    password_reset_network = models.CharField(max_length=45, blank=True)

    # Failed codes today, over all purposes: many make the next codes longer.
    failed_codes = models.PositiveIntegerField(default=0)
    failed_codes_day = models.DateField(null=True, blank=True)

    # Second step
    second_password = models.CharField(max_length=128, blank=True)
    second_password_hint = models.CharField(max_length=HINT_LENGTH, blank=True)
    second_password_changed_at = models.DateTimeField(_("second password changed at"), null=True, blank=True)
    wrong_second_passwords = models.PositiveIntegerField(default=0)
    wrong_second_passwords_day = models.DateField(null=True, blank=True)
    # Wrong app codes of staff after the right password, at the sign-in to the support pages.
    wrong_staff_codes = models.PositiveIntegerField(default=0)
    wrong_staff_codes_day = models.DateField(null=True, blank=True)

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
        constraints = [
            models.UniqueConstraint(Lower("username"), name="user_username_unique"),
            # Partial: a user without one has no entry.
            models.UniqueConstraint(
                fields=["external_id"], condition=Q(external_id__isnull=False), name="user_external_id_unique"
            ),
        ]
        indexes = [
            models.Index(fields=["username_folded"], name="user_search_username"),
            models.Index(fields=["name_folded"], name="user_search_name"),
            models.Index(fields=["family_first_folded"], name="user_search_family_first"),
            models.Index(fields=["name_joined"], name="user_search_joined"),
            models.Index(fields=["family_first_joined"], name="user_search_family_joined"),
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

    def check_password(self, raw_password: str | None) -> bool:
        """As Django's, but a renewed hash replaces only the compared one: the password may have changed since."""
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

    def status_at(self, now: datetime) -> str:
        """One word for the team's own server: `blocked`, `deletion_scheduled`, `unverified` or `active`."""
        if self.is_blocked(now):
            return "blocked"
        if self.erase_after is not None:
            return "deletion_scheduled"
        return "active" if self.has_verified_email else "unverified"

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
