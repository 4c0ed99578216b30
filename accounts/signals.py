"""Signals of accounts. Each is sent inside the transaction of its change."""

from django.dispatch import Signal

# The address of an account was confirmed. Arguments: user (User).
account_verified = Signal()

# Sessions ended (logout, removal, reset, password change, block, reuse of an old token).
# Arguments: user_id (int), session_ids (list[int]), reason (str).
session_revoked = Signal()

# A credential changed: earlier tokens of sessions that go on no longer work. Arguments: user_id (int).
session_tokens_replaced = Signal()

# Staff blocked or unblocked an account, or it was unlocked. Arguments: user_id (int),
# status (str: "blocked", "active").
account_status_changed = Signal()

# One user blocked or unblocked another. Arguments: blocker_id (int), blocked_id (int), blocked (bool).
block_changed = Signal()

# Name, username, picture, bio, language or address changed, or the address was confirmed. Arguments: user_id (int).
profile_changed = Signal()

# A user shows or hides when they are online. Arguments: user (User).
presence_visibility_changed = Signal()

# An account is being erased; receivers erase the data that their app stores about it. Arguments: user_id (int).
account_erased = Signal()
