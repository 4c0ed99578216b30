"""Signals of accounts. Each is sent inside the transaction of its change."""

from django.dispatch import Signal

# An account was created: by a sign-up, by the team's own server, by staff. Arguments: user (User).
account_created = Signal()

# The address of an account was confirmed. Arguments: user (User).
account_verified = Signal()

# A session of the API began. Arguments: session (Session).
session_started = Signal()

# Sessions ended (logout, removal, reset, password change, block, reuse of an old token). Sockets, calls and push devices
# need no other signal, also of a block: each belongs to a session.
# Arguments: user_id (int), session_ids (list[int]), reason (str).
session_revoked = Signal()

# A credential changed: earlier tokens of sessions that go on no longer work. Arguments: user_id (int).
session_tokens_replaced = Signal()

# Staff or the team's own server blocked or unblocked an account. Arguments: user_id (int), is_blocked (bool).
account_status_changed = Signal()

# One user blocked or unblocked another. Arguments: blocker_id (int), blocked_id (int), blocked (bool).
block_changed = Signal()

# Name, username, picture, bio, language or address changed, or the address was confirmed. Arguments: user_id (int).
profile_changed = Signal()

# The address of an account was proved by another person than the one who had set it up. Receivers reset the settings of
# their app. Arguments: user_id (int).
settings_reset = Signal()

# A user shows or hides when they are online. Arguments: user (User).
presence_visibility_changed = Signal()

# A user has asked for the deletion of their account. Arguments: user_id (int), erase_after (datetime).
account_deletion_scheduled = Signal()

# The deletion was cancelled: by signing in, or with a change of the address that was taken back. Arguments: user_id (int).
account_deletion_cancelled = Signal()

# An account is being erased; receivers erase the data that their app stores about it. Arguments: user_id (int).
account_erased = Signal()
