"""HTTP in the fleet: `granian --interface wsgi config.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# A WSGI server keeps its threads, so each thread keeps its connection.
os.environ.setdefault("DATABASE_CONNECTIONS", "kept")

application = get_wsgi_application()

if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
    from config.telemetry import traced

    application = traced(application)
