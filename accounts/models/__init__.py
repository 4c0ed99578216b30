"""The tables of accounts."""

from accounts.models.people import Block, NetworkLock, PasswordLock, UnknownAddress, User, UserManager
from accounts.models.records import AuditEntry, Image, RateCount
from accounts.models.sign_ins import Session, TrustedDevice
from accounts.models.steps import Code, CodeTries, EmailChange, PendingToken, RecoveryCode

__all__ = [
    "AuditEntry",
    "Block",
    "Code",
    "CodeTries",
    "EmailChange",
    "Image",
    "NetworkLock",
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
