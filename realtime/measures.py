"""What this process measures about the live wire; whoever serves /metrics reads it."""

from prometheus_client import Histogram

DELIVERY_SECONDS = Histogram(
    "parley_event_delivery_seconds",
    "From the change to the frame on a live socket.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30),
)
