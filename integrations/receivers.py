"""Receivers that turn signals of other apps into events for the team's own server. They only write rows, and none for an
event that no target wants. Without a target each costs microseconds: docs/decisions/own-server.md#0121.

Events about accounts and sessions of staff are not sent.
"""

from datetime import datetime
from typing import Any

from django.dispatch import receiver

from accounts import signals as accounts
from accounts.selectors import managed_user
from core.times import json_time
from integrations.services import event_log
from integrations.targets import targets
from messaging import signals as messaging
from realtime.calls import signals as calls


def _about_account(type_: str, user_id: int, **data: Any) -> None:
    if event_log.is_wanted(type_) and managed_user(user_id) is not None:
        event_log.write(type_, user_id=user_id, **data)


@receiver(accounts.account_created)
def account_created(user: Any, **kwargs: Any) -> None:
    _about_account("account.created", user.id)


@receiver(accounts.account_verified)
def account_verified(user: Any, **kwargs: Any) -> None:
    _about_account("account.verified", user.id)


@receiver(accounts.profile_changed)
def profile_changed(user_id: int, **kwargs: Any) -> None:
    _about_account("account.updated", user_id)


@receiver(accounts.account_status_changed)
def account_status_changed(user_id: int, is_blocked: bool, **kwargs: Any) -> None:
    _about_account("account.blocked" if is_blocked else "account.unblocked", user_id)


@receiver(accounts.account_deletion_scheduled)
def account_deletion_scheduled(user_id: int, erase_after: datetime, **kwargs: Any) -> None:
    _about_account("account.deletion_scheduled", user_id, erase_after=json_time(erase_after))


@receiver(accounts.account_deletion_cancelled)
def account_deletion_cancelled(user_id: int, **kwargs: Any) -> None:
    _about_account("account.deletion_cancelled", user_id)


@receiver(accounts.account_erased)
def account_erased(user_id: int, **kwargs: Any) -> None:
    if not targets():
        return
    # Before the account becomes anonymous; the signal is sent again for what a parallel request may have written since.
    user = managed_user(user_id)
    if user is not None and event_log.remember_erased(user_id=user_id, external_id=user.external_id):
        event_log.write("account.erased", user_id=user_id)


@receiver(accounts.session_started)
def session_started(session: Any, **kwargs: Any) -> None:
    _about_account("session.created", session.user_id, session_id=session.id, opened_by=session.opened_by or None)


@receiver(accounts.session_revoked)
def session_revoked(user_id: int, session_ids: list[int], reason: str, **kwargs: Any) -> None:
    for session_id in session_ids:
        _about_account("session.ended", user_id, session_id=session_id, reason=reason)


def _about_message(type_: str, message: Any, conversation: Any) -> None:
    event_log.write(
        type_,
        message_id=message.id,
        conversation_id=conversation.id,
        sender_id=message.sender_id,
        recipient_id=conversation.other_id(message.sender_id),
    )


@receiver(messaging.message_sent)
def message_sent(message: Any, conversation: Any, **kwargs: Any) -> None:
    _about_message("message.created", message, conversation)


@receiver(messaging.message_edited)
def message_edited(message: Any, conversation: Any, **kwargs: Any) -> None:
    _about_message("message.updated", message, conversation)


@receiver(messaging.message_deleted)
def message_deleted(message: Any, conversation: Any, **kwargs: Any) -> None:
    _about_message("message.deleted", message, conversation)


def _about_report(type_: str, report: Any, **data: Any) -> None:
    event_log.write(
        type_,
        report_id=report.id,
        message_id=report.message_id,
        conversation_id=report.snapshot.get("conversation_id"),
        reporter_id=report.reporter_id,
        reported_id=report.reported_id,
        state=report.state,
        **data,
    )


@receiver(messaging.report_created)
def report_created(report: Any, **kwargs: Any) -> None:
    _about_report("report.created", report)


@receiver(messaging.report_closed)
def report_closed(report: Any, **kwargs: Any) -> None:
    _about_report("report.closed", report)


@receiver(calls.call_ended)
def call_ended(call: Any, **kwargs: Any) -> None:
    event_log.write(
        "call.ended",
        call_id=call.id,
        conversation_id=call.conversation_id,
        caller_id=call.caller_id,
        callee_id=call.callee_id,
        media=call.media,
        outcome=call.outcome,
        duration_s=call.duration_s,
    )


@receiver(accounts.block_changed)
def block_changed(blocker_id: int, blocked_id: int, blocked: bool, **kwargs: Any) -> None:
    type_ = "block.created" if blocked else "block.removed"
    event_log.write(type_, blocker_id=blocker_id, blocked_id=blocked_id)
