"""Signals of calls. Each is sent inside the transaction of its change."""

from django.dispatch import Signal

# A call ended. Arguments: call (Call).
call_ended = Signal()
