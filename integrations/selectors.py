"""Queries of integrations."""

from collections.abc import Iterable
from typing import Any

from accounts.selectors import users_by_ids
from integrations.models import ErasedAccount


def people_in(ids: Iterable[int | None]) -> tuple[dict[int, Any], dict[int, str | None]]:
    """The accounts of these ids that are there, and the external ids of those that were erased. Two queries at most."""
    distinct = {user_id for user_id in ids if user_id is not None}
    users = {user_id: user for user_id, user in users_by_ids(distinct).items() if user.erased_at is None}
    gone = distinct - users.keys()
    rows = ErasedAccount.objects.filter(user_id__in=gone) if gone else ErasedAccount.objects.none()
    return users, dict(rows.values_list("user_id", "external_id"))
