"""The tables of accounts."""

from accounts.models.people import Block, PasswordLock, UnknownAddress, User, UserManager
from accounts.models.records import AuditEntry, Image, RateCount
from accounts.models.sign_ins import Session, TrustedDevice
from accounts.models.steps import Code, EmailChange, PendingToken, RecoveryCode

__all__ = [
    "AuditEntry",
    "Block",
    "Code",
    "EmailChange",
    "Image",
    "PasswordLock",
    "PendingToken",
    "RateCount",
    "RecoveryCode",
    "Session",
    "TrustedDevice",
    "UnknownAddress",
    "User",
    "UserManager",
]
