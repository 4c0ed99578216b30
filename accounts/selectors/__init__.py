"""Queries of accounts; this module names those that other apps may use."""

from accounts.models.people import blocked_between
from accounts.selectors.people import (
    address_is_taken,
    blockable_user,
    blocked_either_way,
    blocks_made_by,
    blocks_page,
    contactable_user,
    existing_user_ids,
    ids_blocked_either_way,
    image_by_token,
    live_devices,
    message_images,
    search_people,
    sessions_of,
    signed_in_sessions,
    user_by_id,
    users_by_ids,
)
from accounts.selectors.sign_ins import active_verified_sessions, session_with_user

__all__ = [
    "active_verified_sessions",
    "address_is_taken",
    "blockable_user",
    "blocked_between",
    "blocked_either_way",
    "blocks_made_by",
    "blocks_page",
    "contactable_user",
    "existing_user_ids",
    "ids_blocked_either_way",
    "image_by_token",
    "live_devices",
    "message_images",
    "search_people",
    "session_with_user",
    "sessions_of",
    "signed_in_sessions",
    "user_by_id",
    "users_by_ids",
]
