"""The documentation as pages: guides, the reference of every operation, search."""
