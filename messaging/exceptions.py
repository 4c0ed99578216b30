"""The errors of the contract that belong to messaging: one class each, with code, status and text."""

from django.utils.translation import gettext_lazy as _

from core.api.exceptions import ApiError


class ConversationNotFound(ApiError):
    status_code = 404
    default_code = "conversation_not_found"
    default_detail = _("This conversation doesn't exist.")


class MessageNotFound(ApiError):
    status_code = 404
    default_code = "message_not_found"
    default_detail = _("This message doesn't exist.")


class NotMessageOwner(ApiError):
    status_code = 403
    default_code = "not_message_owner"
    default_detail = _("Only the author can edit or delete a message.")


class IdempotencyConflict(ApiError):
    status_code = 409
    default_code = "idempotency_conflict"
    default_detail = _("This client_id already belongs to a message with other content.")


class MessagePermissionDenied(ApiError):
    status_code = 403
    default_code = "message_permission_denied"
    default_detail = _("This user does not accept messages from you.")
