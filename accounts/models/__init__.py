"""The tables of accounts."""

from accounts.models.people import Block, NetworkLock, PasswordLock, UnknownAddress, User
from accounts.models.records import AuditEntry, Image, RateCount
from accounts.models.sign_ins import Code, CodeTries, EmailChange, PendingToken, RecoveryCode, Session, TrustedDevice
