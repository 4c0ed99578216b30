"""What facts of other apps mean on the live wire. Receivers only write rows."""

from realtime.receivers import accounts, calls, messaging, notifications

__all__ = ["accounts", "calls", "messaging", "notifications"]
