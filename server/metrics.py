"""Metrics for Prometheus at /metrics: requests by route, the state of the delivery queue, and free disk space.

Numbers are per process, so scrape each process of a fleet separately. The workers of granian share a port, and a scrape
reaches any of them. They count in the files of one folder (PROMETHEUS_MULTIPROC_DIR), and each answers with the sum.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage
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

from core.version import VERSION
from integrations.services.webhooks import figures as webhook_figures
from notifications.selectors import deliveries_by_state, delivery_lag_seconds
from realtime.calls.selectors import calls_by_outcome
from realtime.selectors import sockets_open
from realtime.services import event_log  # noqa: F401  (registers what the event log measures)
from server.backups import last_made_at
from server.health import OK, channel_layer, may_read_details

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

WEBHOOK_FIGURES = {
    "lag_seconds": "Age of the oldest due event of a webhook target.",
    "paused": "1 while a webhook target is paused, because it refuses or does not answer.",
    "switched_off": "1 when a webhook target has answered 410, until it is switched on.",
}


class StateCollector(Collector):
    """Reads the database, Redis and the pool of database connections at each scrape."""

    def describe(self) -> list[GaugeMetricFamily]:
        # Without this method the registry would collect, and so query, at import.
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        info = GaugeMetricFamily("parley_info", "The version that runs; always 1.", labels=["version"])
        info.add_metric([VERSION], 1)
        yield info
        yield from self._database()
        yield from self._disks()
        if settings.REDIS_URL:
            answers = channel_layer().state == OK
            yield GaugeMetricFamily("parley_redis_up", "1 when every Redis server answers.", value=int(answers))
        # The thread that answers /metrics has left the pool.
        pool = getattr(connection, "open_pool", None)
        if pool is not None:
            stats = pool.get_stats()
            for name, text in POOL_FIGURES.items():
                yield GaugeMetricFamily(f"parley_database_{name}", text, value=stats.get(name, 0))

    def _disks(self) -> Iterator[GaugeMetricFamily]:
        """The free space of the folders that the service fills; missing folders are skipped."""
        folders = {"var": settings.VAR_DIR}
        if isinstance(default_storage, FileSystemStorage):
            folders["media"] = settings.MEDIA_ROOT
        free = GaugeMetricFamily("parley_disk_free_bytes", "Free space where a folder lies.", labels=["folder"])
        size = GaugeMetricFamily("parley_disk_size_bytes", "All space where a folder lies.", labels=["folder"])
        for folder, path in folders.items():
            with contextlib.suppress(OSError):
                disk = shutil.disk_usage(path)
                free.add_metric([folder], disk.free)
                size.add_metric([folder], disk.total)
        yield free
        yield size

    def _database(self) -> Iterator[GaugeMetricFamily]:
        """Nothing while the database is unavailable."""
        try:
            lag = delivery_lag_seconds()
            deliveries = deliveries_by_state()
            sockets = sockets_open()
            webhooks = webhook_figures()
            calls = calls_by_outcome(since=timezone.now() - timedelta(days=1))
            backup = last_made_at()
        except DatabaseProblem:
            return
        yield GaugeMetricFamily("parley_delivery_lag_seconds", "Age of the oldest due mail or push.", value=lag)
        rows = GaugeMetricFamily("parley_deliveries", "Mails and pushes by result.", labels=["channel", "state"])
        for labels, number in deliveries.items():
            rows.add_metric(labels, number)
        yield rows
        for name, text in WEBHOOK_FIGURES.items():
            of_targets = GaugeMetricFamily(f"parley_webhook_{name}", text, labels=["target"])
            for target, figures in webhooks.items():
                of_targets.add_metric([target], figures[name])
            yield of_targets
        age = (timezone.now() - backup).total_seconds() if backup else float("inf")
        yield GaugeMetricFamily(
            "parley_backup_age_seconds", "Age of the newest `manage.py backup`; +Inf: none.", value=age
        )
        yield GaugeMetricFamily("parley_sockets_open", "Open sockets of all processes.", value=sockets)
        ended = GaugeMetricFamily("parley_calls_today", "Calls of the last day by outcome.", labels=["outcome"])
        for outcome, number in calls.items():
            ended.add_metric([outcome], number)
        yield ended


def _registry() -> CollectorRegistry:
    """The numbers of this process, or the sum over all processes that share its folder."""
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
    if not may_read_details(request):
        raise Http404
    return HttpResponse(generate_latest(shown), content_type=CONTENT_TYPE_LATEST)
