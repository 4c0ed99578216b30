"""Signals about notifications, and the signal by which apps of the same process report events.

All are sent inside the transaction.
"""

from django.dispatch import Signal

# A notification was created, changed, read or deleted. A receiver renders its current state, or nothing for a deleted
# one. Arguments: recipient_id (int), notification_id (int), silent (bool: the app should show it without sound).
notification_changed = Signal()

# Everything up to now was marked read. Arguments: recipient_id (int).
notifications_read_all = Signal()

# For other apps to SEND, inside their own transaction: a user liked, commented, replied or followed,
# or retracted it. Arguments: action ("create" or "retract"), kind (str, see kinds.py), recipient_id
# (int), actor_id (int); for posts also target_id (int) and title (str); optional comment_id (int) and
# occurred_at (aware datetime). Errors are raised to the sender. Example:
#     social_event_happened.send(Post, action="create", kind="post_like", recipient_id=post.author_id,
#                                actor_id=liker.id, target_id=post.id, title=post.title)
social_event_happened = Signal()
