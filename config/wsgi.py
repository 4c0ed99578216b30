"""WSGI entry point of the HTTP processes: `granian --interface wsgi config.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

from core import process

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Other users of the machine must not read files of this process (manage.py does the same).
os.umask(0o077)
# A WSGI server keeps its threads, so each thread keeps its connection.
os.environ.setdefault("DATABASE_CONNECTIONS", "kept")
if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):  # of server.metrics
    os.makedirs(folder, exist_ok=True)

traces = bool(os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"))
process.loading()
# Django, DRF, httpx and redis load these where they are installed. Code that needs one loads it when it is used.
unused = ["jinja2", "pygments"] + ([] if traces else ["opentelemetry"])
with process.without_modules(*unused):
    application = get_wsgi_application()
    import config.urls  # noqa: F401  (all views are loaded now, not by the first request)
    from core.conf import refuse_unsafe_settings
    from core.images import pool

refuse_unsafe_settings()
pool.expect_few_threads()
if traces:
    from server.telemetry import traced

    application = traced(application)
process.loaded()
