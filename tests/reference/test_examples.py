"""Every operation has examples, and they are what the service really takes and gives.

`RECORD_EXAMPLES=1` writes docs/reference/examples.json anew.
"""

import json
import os
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from tests.integrations.receiving import SECRET
from tests.reference.recorder import shape
from tests.reference.story import EVENT_KEY, Story

FILE = Path(settings.BASE_DIR) / "docs" / "reference" / "examples.json"


@pytest.fixture
def record(db, settings):
    settings.NOTIFICATIONS_EVENT_SOURCES = f"blog:{EVENT_KEY}:*"
    settings.INTEGRATIONS_IDENTITY_AUDIENCES = ["shop"]
    settings.INTEGRATIONS_WEBHOOKS = f"shop|https://shop.example.com/events|{SECRET}|account.*"
    return Story().tell()


@pytest.mark.timeout(300)
def test_the_examples_are_what_the_service_answers(record):
    if os.environ.get("RECORD_EXAMPLES"):
        assert connection.vendor == "sqlite", "ids start at 1 on SQLite only"
        FILE.write_text(json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    committed = json.loads(FILE.read_text(encoding="utf-8"))
    assert set(committed) == set(record)
    for name, example in record.items():
        assert shape(committed[name]) == shape(json.loads(json.dumps(example))), name
