"""The support pages of messaging."""
