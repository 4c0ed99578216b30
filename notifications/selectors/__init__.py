"""Reads that other apps may use."""

from notifications.selectors.delivery import delivery_lag_seconds

__all__ = ["delivery_lag_seconds"]
