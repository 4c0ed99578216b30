"""The style sheet of the support pages takes its values from the tokens of the web client."""

import re

import pytest

from tests.server import ROOT
from tests.staff import admin_client, staff

COLOUR = re.compile(r"#[0-9a-f]{3,8}\b")
# White and black are no choice of a design: the ground of a QR code, and what a colour is darkened with.
COMMON = {"#fff", "#000"}


@pytest.mark.once
def test_no_value_of_a_token_is_copied():
    tokens = (ROOT / "static/css/tokens.css").read_text(encoding="utf-8")
    own = (ROOT / "accounts/static/staff/staff.css").read_text(encoding="utf-8")
    assert set(COLOUR.findall(own)) & set(COLOUR.findall(tokens)) - COMMON == set()
    used = set(re.findall(r"var\((--(?:color|font|radius|space|text|target|speed)[\w-]*)", own))
    assert len(used) > 20
    assert sorted(name for name in used if f"{name}:" not in tokens) == []


def test_tokens_and_sheet_come_after_all_sheets_of_django(db):
    client = admin_client(staff(is_superuser=True))
    for path in ("/admin/", "/admin/accounts/user/", "/admin/auth/group/add/", "/admin/login/"):
        page = client.get(path, follow=True).content.decode()
        sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page)
        assert ["css/tokens" in sheets[-2], "staff/staff" in sheets[-1]] == [True, True], path
