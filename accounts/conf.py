"""Defaults of this app; a setting `ACCOUNTS_<NAME>` overrides the one of that name."""

from dataclasses import dataclass, field
from pathlib import Path

from core.conf import ALLOW, COUNT_IN_DATABASE, RatesByScope, prefixed

# The most characters of texts. Columns hold them, so a longer one needs a migration.
EXTERNAL_ID_LENGTH = 128
NAME_LENGTH = 50
BIO_LENGTH = 500
HINT_LENGTH = 64
REASON_LENGTH = 500
DEVICE_NAME_LENGTH = 200
# The least, too.
USERNAME_LENGTHS = (3, 32)
# The most characters of a password that are hashed; the least are an option of AUTH_PASSWORD_VALIDATORS.
PASSWORD_LENGTH = 256


@dataclass(frozen=True)
class Defaults:
    # kid:secret pairs, newest first; a secret has at least 32 bytes.
    TOKEN_KEYS: str = ""
    # The file that the keys were read from; None when the environment sets them.
    TOKEN_KEYS_FILE: Path | None = None
    SESSION_DAYS: int = 90
    REFRESH_GRACE_SECONDS: int = 60
    LAST_USED_EVERY_SECONDS: int = 300

    CODE_DIGITS: int = 6
    # The code of the second step that is mailed in place of the second password.
    MAILED_STEP_DIGITS: int = 8
    # Failed codes of an account on one day, and the digits of its codes from then on.
    CODE_GROWS_AFTER: tuple[tuple[int, int], ...] = ((100, 10), (20, 8))
    CODE_MINUTES: int = 10
    # Wrong codes from one network, and from all networks together.
    CODE_TRIES: int = 5
    CODE_TRIES_IN_ALL: int = 15

    # Wrong passwords in a row, and the seconds of the lockout that follows. Every further five lock out for as long as
    # the last step.
    LOCK_STEPS: tuple[tuple[int, int], ...] = ((5, 60), (10, 300), (15, 900))
    LOCK_EVERY: int = 5
    # Older wrong passwords are not counted.
    LOCK_QUIET_HOURS: int = 24
    # A trusted device is not locked out, but has only so many tries an hour during a lockout.
    TRUSTED_DEVICE_TRIES: int = 10

    TRUSTED_DEVICE_DAYS: int = 30
    TRUSTED_DEVICES_MAX: int = 10

    TWO_STEP_TOKEN_MINUTES: int = 10
    TWO_STEP_TRIES: int = 5
    WRONG_SECOND_PASSWORDS_A_DAY: int = 10
    # From this number of wrong second passwords a day the owner gets a mail: someone else knows the first password.
    WRONG_SECOND_PASSWORDS_MAILED: int = 3
    # Wrong app codes at the sign-in to the support pages: from one network in an hour, and from all unknown networks
    # together in a day.
    STAFF_CODE_TRIES: int = 10
    WRONG_STAFF_CODES_A_DAY: int = 100
    RECOVERY_CODES: int = 10
    # After a recovery code its session may set a new second password without the old one.
    SECOND_PASSWORD_FREE_MINUTES: int = 15
    # After a reset of the first password by mail, no second step by mail: one mailbox is one step.
    MAILED_STEP_HOLD_DAYS: int = 7

    CHALLENGE_MINUTES: int = 10
    ACTION_TOKEN_MINUTES: int = 5
    ACTION_TOKEN_TRIES: int = 5

    EMAIL_UNDO_DAYS: int = 7
    # An undo also takes back credentials that were set this long before the change of the address.
    EMAIL_UNDO_HOURS_BEFORE: int = 24
    # How long the page of the undo link offers to choose a password.
    CHOOSE_PASSWORD_MINUTES: int = 60
    CHOOSE_PASSWORD_TRIES: int = 20
    USERNAME_DAYS: int = 30

    BLOCKS_PAGE: int = 50
    BLOCKS_PAGE_MAX: int = 100

    UNCONFIRMED_DAYS: int = 7
    # How long ended sessions are kept: for support, and to recognise known devices.
    SESSIONS_KEPT_DAYS: int = 90
    DELETE_GRACE_DAYS: int = 14

    # Megabytes (1,048,576 bytes each) of originals that a user may store on one day, and in all.
    STORAGE_QUOTA_DAY_MB: int = 500
    STORAGE_QUOTA_TOTAL_MB: int = 5_120

    # Networks where the account was used within these days are known and have limits of their own.
    KNOWN_NETWORK_DAYS: int = 90

    # The views declare what each rate is counted by; docs/security.md has the table.
    RATES: RatesByScope = field(
        default_factory=lambda: {
            "login": (5, 60, COUNT_IN_DATABASE),
            "login_network": (30, 60, COUNT_IN_DATABASE),
            "signup": (20, 60, COUNT_IN_DATABASE),
            "verify": (10, 60, COUNT_IN_DATABASE),
            "verify_network": (60, 60, COUNT_IN_DATABASE),
            "resend_otp": (3, 60, COUNT_IN_DATABASE),
            "resend_otp_network": (60, 3600, COUNT_IN_DATABASE),
            "forgot_password": (3, 60, COUNT_IN_DATABASE),
            "forgot_password_network": (60, 3600, COUNT_IN_DATABASE),
            "verify_reset": (10, 60, COUNT_IN_DATABASE),
            "verify_reset_network": (60, 60, COUNT_IN_DATABASE),
            # Tries are counted on the token and the account; these rates limit the cost of password hashes.
            "two_step": (30, 60, COUNT_IN_DATABASE),
            "two_step_forgot": (30, 60, COUNT_IN_DATABASE),
            "resend_two_step": (3, 60, COUNT_IN_DATABASE),
            "resend_two_step_network": (60, 3600, COUNT_IN_DATABASE),
            "action_challenge": (3, 60, COUNT_IN_DATABASE),
            "email_undo": (30, 60, COUNT_IN_DATABASE),
            "refresh": (30, 60, ALLOW),
            # A copied token must not use up the writes with which its owner ends it.
            "sign_out": (120, 60, ALLOW),
            "block": (30, 60, ALLOW),
            # Mails to one address above these rates are dropped without an error.
            "code_mails_known": (10, 3600, COUNT_IN_DATABASE),
            "code_mails_unknown": (10, 3600, COUNT_IN_DATABASE),
            "notice_mails": (3, 3600, COUNT_IN_DATABASE),
        }
    )


conf = prefixed("ACCOUNTS", Defaults())


def code_lengths() -> list[int]:
    """The numbers of digits that mailed codes have, the usual one first."""
    return sorted({conf.CODE_DIGITS, conf.MAILED_STEP_DIGITS, *(digits for _, digits in conf.CODE_GROWS_AFTER)})
