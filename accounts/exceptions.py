"""The errors of accounts: one class each, with code, status and text."""

from django.utils.translation import gettext_lazy as _

from core.api.exceptions import ApiError


class InvalidOtp(ApiError):
    status_code = 400
    default_code = "invalid_otp"
    default_detail = _("The code is wrong or has expired.")


class InvalidCredentials(ApiError):
    status_code = 401
    default_code = "invalid_credentials"
    default_detail = _("The e-mail address or the password is wrong.")


class InvalidTwoStep(ApiError):
    status_code = 401
    default_code = "invalid_two_step"
    default_detail = _("The second password is wrong.")


class TokenExpired(ApiError):
    status_code = 401
    default_code = "token_expired"
    default_detail = _("The token has expired. Please sign in again.")


class TokenRevoked(ApiError):
    status_code = 401
    default_code = "token_revoked"
    default_detail = _("This session has ended. Please sign in again.")


class TokenInvalid(ApiError):
    status_code = 401
    default_code = "token_invalid"
    default_detail = _("A valid token is required.")


class AccountBlocked(ApiError):
    status_code = 403
    default_code = "account_blocked"
    default_detail = _("This account is blocked.")


class EmailNotVerified(ApiError):
    status_code = 403
    default_code = "email_not_verified"
    default_detail = _("Please confirm your e-mail address first.")


class UserBlocked(ApiError):
    status_code = 403
    default_code = "user_blocked"
    default_detail = _("You can't contact this person.")


class ActionTokenRequired(ApiError):
    status_code = 403
    default_code = "action_token_required"
    default_detail = _("Confirm this action with a code sent by e-mail.")


class ActionTokenInvalid(ApiError):
    status_code = 403
    default_code = "action_token_invalid"
    default_detail = _("The confirmation is not valid for this action or has already been used.")


class UserNotFound(ApiError):
    status_code = 404
    default_code = "user_not_found"
    default_detail = _("This user doesn't exist.")


class EmailTaken(ApiError):
    status_code = 409
    default_code = "email_taken"
    default_detail = _("This e-mail address is already registered.")


class UsernameTaken(ApiError):
    status_code = 409
    default_code = "username_taken"
    default_detail = _("This username is taken.")


class ExternalIdTaken(ApiError):
    status_code = 409
    default_code = "external_id_taken"
    default_detail = _("Another account has this external id.")


class DeletionScheduled(ApiError):
    status_code = 409
    default_code = "deletion_scheduled"
    default_detail = _("This account is going to be deleted.")


class StorageQuotaExceeded(ApiError):
    """Always with `retry_after`: the seconds until the next day in UTC begins."""

    status_code = 429
    default_code = "storage_quota_exceeded"
    default_detail = _("You have sent as much as is possible in one day. Please try again tomorrow.")


class StorageFull(ApiError):
    status_code = 403
    default_code = "storage_full"
    default_detail = _("Your storage is full. Delete messages with images to make room.")


class AccountLocked(ApiError):
    """Always with `retry_after`, in whole seconds."""

    status_code = 429
    default_code = "account_locked"
    default_detail = _("Too many wrong attempts. Please wait a moment.")
