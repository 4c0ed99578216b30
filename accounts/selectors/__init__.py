"""Queries of accounts; this module names those that other apps may use."""

from accounts.selectors.people import (
    address_is_taken,
    block_between,
    blockable_user,
    blocked_by_staff,
    blocked_either_way,
    blocks_made_by,
    blocks_page,
    contactable_user,
    ids_blocked_either_way,
    live_devices,
    live_sessions,
    search_people,
    user_by_id,
    users_by_ids,
)
from accounts.selectors.sign_ins import active_verified_sessions, session_with_user

__all__ = [
    "active_verified_sessions",
    "address_is_taken",
    "block_between",
    "blockable_user",
    "blocked_by_staff",
    "blocked_either_way",
    "blocks_made_by",
    "blocks_page",
    "contactable_user",
    "ids_blocked_either_way",
    "live_devices",
    "live_sessions",
    "search_people",
    "session_with_user",
    "user_by_id",
    "users_by_ids",
]
