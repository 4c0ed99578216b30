"""Receivers that turn signals of other apps into events of the log. They only write rows."""

from realtime.receivers import accounts, calls, messaging, notifications

__all__ = ["accounts", "calls", "messaging", "notifications"]
