"""What facts of other apps mean on the live wire. Receivers only write rows."""

from realtime.receivers import calls

__all__ = ["calls"]
