"""Receivers that turn signals of other apps into events of the log. They only write rows."""

from realtime.receivers import accounts, messaging, notifications

__all__ = ["accounts", "messaging", "notifications"]
