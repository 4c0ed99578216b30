"""Notifications as JSON, one module per story."""
