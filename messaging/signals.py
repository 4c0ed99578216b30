"""Facts about conversations. Each is sent inside the transaction that made it true, as its last act.

`conversation` always has `id`, `user_low_id` and `user_high_id`.
"""

from django.dispatch import Signal

# Two people have a conversation that did not exist before; it is still empty.
# Arguments: conversation (Conversation), starter_id (int).
conversation_started = Signal()

# A message was sent, or a call left its line. Arguments: message (Message), conversation (Conversation),
# recipient_id (int), recipient_unread (int: unread messages of the recipient in this conversation).
message_sent = Signal()

# The text of a message changed. Arguments: message (Message), conversation (Conversation).
message_edited = Signal()

# A message is gone for both sides, its content erased. Arguments: message (Message),
# conversation (Conversation), was_unread (bool: the recipient had not read it).
message_deleted = Signal()

# Somebody put a reaction on a message or took one back. Arguments: message_id (int),
# conversation (Conversation), actor_id (int).
reactions_changed = Signal()

# A side's read watermark moved forward. Arguments: conversation (Conversation), reader_id (int),
# last_read_id (int), unread_count (int: what the reader has left unread in this conversation).
conversation_read = Signal()

# A side cleared the conversation up to a message. Arguments: conversation (Conversation), user_id (int),
# cleared_up_to_id (int).
conversation_cleared = Signal()

# A device of this side acknowledged messages up to this id. Arguments: conversation (Conversation),
# user_id (int), delivered_id (int).
conversation_delivered = Signal()
