"""Facts about accounts. Each is sent inside the transaction that made it true."""

from django.dispatch import Signal

# The address of an account was confirmed. Arguments: user (User).
account_verified = Signal()

# Sessions ended (logout, removal, reset, password change, block, reuse of an old token).
# Arguments: user_id (int), session_ids (list[int]), reason (str).
session_revoked = Signal()

# Staff blocked or unblocked an account, or it was unlocked. Arguments: user_id (int),
# standing (str: "blocked", "active").
standing_changed = Signal()

# One person blocked or unblocked another. Arguments: blocker_id (int), blocked_id (int), blocked (bool).
block_changed = Signal()

# Name, username, picture, bio or language changed. Arguments: user_id (int).
profile_changed = Signal()

# An account is being erased; whoever holds data of it erases that now. Arguments: user_id (int).
account_erased = Signal()
