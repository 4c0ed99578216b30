"""Metrics for Prometheus at /metrics: requests by route, and the state of the delivery queue.

Numbers are per process: scrape each process of a fleet by itself. The workers of a granian share a port, so a scrape meets
any of them: they count in the files of one folder (PROMETHEUS_MULTIPROC_DIR), and each answers with the sum.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db import Error as DatabaseProblem
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    PROCESS_COLLECTOR,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from config.health import OK, channel_layer
from core.request_context import bearer_of
from notifications.selectors import deliveries_by_state, delivery_lag_seconds
from realtime.calls.selectors import calls_by_outcome
from realtime.selectors import sockets_open
from realtime.services import log  # noqa: F401  (registers what the event log measures)

REQUESTS = Counter("parley_http_requests", "Answered requests.", ["method", "route", "status"])
SECONDS = Histogram(
    "parley_http_request_seconds",
    "Time from the first middleware to the answer.",
    ["route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
LIMITS = Counter("parley_limits_hit", "Requests refused with 429.", ["error"])
POOL_FIGURES = {
    "pool_size": "Database connections of this process.",
    "pool_available": "Database connections that are free.",
}


class StateCollector(Collector):
    """Reads the database, Redis and the pool of database connections at each scrape."""

    def describe(self) -> list[GaugeMetricFamily]:
        # Registering asks for this; without it the registry would collect, and so query, at import.
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield from self._database()
        if settings.REDIS_URL:
            answers = channel_layer().state == OK
            yield GaugeMetricFamily("parley_redis_up", "1 when every Redis server answers.", value=int(answers))
        # The thread that answers /metrics has left the pool.
        pool = getattr(connection, "open_pool", None)
        if pool is not None:
            stats = pool.get_stats()
            for name, text in POOL_FIGURES.items():
                yield GaugeMetricFamily(f"parley_database_{name}", text, value=stats.get(name, 0))

    def _database(self) -> Iterator[GaugeMetricFamily]:
        """Nothing while the database is unavailable."""
        try:
            lag = delivery_lag_seconds()
            deliveries = deliveries_by_state()
            sockets = sockets_open()
            calls = calls_by_outcome(since=timezone.now() - timedelta(days=1))
        except DatabaseProblem:
            return
        yield GaugeMetricFamily("parley_delivery_lag_seconds", "Age of the oldest due mail or push.", value=lag)
        rows = GaugeMetricFamily("parley_deliveries", "Mails and pushes by result.", labels=["channel", "state"])
        for labels, number in deliveries.items():
            rows.add_metric(labels, number)
        yield rows
        yield GaugeMetricFamily("parley_sockets_open", "Open sockets of all processes.", value=sockets)
        ended = GaugeMetricFamily("parley_calls_today", "Calls of the last day by outcome.", labels=["outcome"])
        for outcome, number in calls.items():
            ended.add_metric([outcome], number)
        yield ended


def _registry() -> CollectorRegistry:
    """What /metrics shows: the numbers of this process, or the sum of all that share its folder."""
    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
        registry.register(PROCESS_COLLECTOR)
    registry.register(StateCollector())
    return registry


shown = _registry()


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    if not may_read(request):
        raise Http404
    return HttpResponse(generate_latest(shown), content_type=CONTENT_TYPE_LATEST)


def may_read(request: HttpRequest) -> bool:
    """Whether the request may read metrics: only with METRICS_TOKEN as the bearer token; never while it is unset."""
    if not settings.METRICS_TOKEN:
        return False
    token = bearer_of(request.headers.get("Authorization", ""))
    return hmac.compare_digest(token.encode(), settings.METRICS_TOKEN.encode())
