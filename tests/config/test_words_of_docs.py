"""The documentation calls things what developers call them everywhere."""

import re

import pytest
from django.conf import settings

from portal.docs.openapi import texts

pytestmark = pytest.mark.once

# Of a message, or of the socket, whose commands have replies.
OTHER_REPLIES = re.compile(
    r"repl(?:y|ies) (?:to|of others)|reply_to|`reply`|`ref`|const reply|\breply\.\w|in reply\b", re.IGNORECASE
)
# The guides about requests: what answers one is a response.
ABOUT_REQUESTS = ("sign-up", "two-step", "idempotency", "retries", "paging", "clients", "versioning", "quickstart")


@pytest.mark.parametrize("name", ABOUT_REQUESTS)
def test_what_answers_a_request_is_a_response(name):
    text = (settings.BASE_DIR / "docs" / "guides" / f"{name}.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if re.search(r"\brepl(?:y|ies)\b", line, re.IGNORECASE)]
    assert [line for line in lines if not OTHER_REPLIES.search(line)] == []


def test_the_reference_says_response():
    said = {name: operation.description for name, operation in texts.operations().items()}
    assert [name for name, text in said.items() if re.search(r"\b(?:the|lost) reply\b", text, re.IGNORECASE)] == []
