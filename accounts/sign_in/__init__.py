"""Signing in: the stages from a password to a session."""
