"""The tables of accounts."""

from accounts.models.one_time import Code, CodeTries, EmailChange, OneTimeToken, RecoveryCode
from accounts.models.people import Block, PasswordLock, User
from accounts.models.records import AuditEntry, Image, RateCount
from accounts.models.sign_ins import NetworkLock, Session, TrustedDevice, UnknownAddress
