"""The tables of accounts."""

from accounts.models.codes import Code, CodeTries, EmailChange, RecoveryCode
from accounts.models.people import Block, PasswordLock, User
from accounts.models.records import AuditEntry, Image, RateCount
from accounts.models.sign_ins import NetworkLock, OneTimeToken, Session, TrustedDevice, UnknownAddress
