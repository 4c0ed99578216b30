"""The tables of accounts."""

from accounts.models.people import Block, PasswordLock, User
from accounts.models.records import AuditEntry, Image, RateCount
from accounts.models.sign_ins import (
    Code,
    CodeTries,
    EmailChange,
    NetworkLock,
    OneTimeToken,
    RecoveryCode,
    Session,
    TrustedDevice,
    UnknownAddress,
)
