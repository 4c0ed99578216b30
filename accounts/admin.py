"""Registers the support pages of accounts, where Django looks for them."""

from accounts.staff import staff_members, users  # noqa: F401
