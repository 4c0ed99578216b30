"""The tables of accounts."""

from accounts.models.blocks import Block
from accounts.models.codes import Code, CodeTries, EmailChange, RecoveryCode
from accounts.models.people import PasswordLock, User
from accounts.models.records import AuditEntry, Image, RateCount, StorageUse
from accounts.models.sign_ins import Action, NetworkLock, OneTimeToken, Session, TrustedDevice, UnknownAddress
