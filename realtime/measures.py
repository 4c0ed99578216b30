"""Metrics of the real-time channel in this process, for /metrics."""

from prometheus_client import Histogram

DELIVERY_SECONDS = Histogram(
    "parley_event_delivery_seconds",
    "From the change to the frame on an open socket.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30),
)
