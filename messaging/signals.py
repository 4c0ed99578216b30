"""Signals about conversations. Each is sent inside the transaction of the change, as its last step.

`conversation` always has `id`, `user_low_id` and `user_high_id`.
"""

from django.dispatch import Signal

# Two users have a new conversation; it is empty, and only the starter sees it.
# Arguments: conversation (Conversation), starter_id (int).
conversation_started = Signal()

# A participant now sees a conversation that the other one had opened. Arguments: conversation (Conversation),
# user_id (int: the participant).
conversation_shown = Signal()

# A message was sent, or an ended call left its message. Arguments: message (Message), conversation (Conversation),
# recipient_id (int), seen_by (dict of user id to SeenMessage: the message as each participant sees it. The recipient of a
# reply is left out: they may have cleared the quoted message).
message_sent = Signal()

# The text of a message changed. Arguments: message (Message), conversation (Conversation).
message_edited = Signal()

# A message was deleted for both participants, its content erased. Arguments: message (Message),
# conversation (Conversation), was_unread (bool: the recipient had not read it).
message_deleted = Signal()

# A user added a reaction to a message or removed one. Arguments: message_id (int),
# conversation (Conversation), actor_id (int).
reactions_changed = Signal()

# A participant's read watermark moved forward. Arguments: conversation (Conversation), reader_id (int),
# last_read_id (int), unread_count (int: the reader's unread messages in this conversation), session_id (int or None: the
# session in which it was read).
conversation_read = Signal()

# A participant cleared the conversation up to a message. Arguments: conversation (Conversation), user_id (int),
# cleared_up_to_id (int), session_id (int or None: the session in which it was cleared).
conversation_cleared = Signal()

# A device of this participant acknowledged messages up to this id. Arguments: conversation (Conversation),
# user_id (int), delivered_id (int).
conversation_delivered = Signal()

# A participant reported a message, for the first time. Arguments: report (Report).
report_created = Signal()

# Staff closed a report, or corrected how it was closed. Arguments: report (Report).
report_closed = Signal()
