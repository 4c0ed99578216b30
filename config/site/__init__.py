"""The documentation as pages: guides, the reference of every operation, search, and the local mailbox."""
