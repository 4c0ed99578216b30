"""The base class of all errors of the API, and the errors that several apps share."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import APIException


class ApiError(APIException):
    """An error of the contract. Subclasses set `status_code`, `default_code`, `default_detail`; `more` are further fields
    of its body."""

    def __init__(self, detail: Any = None, *, retry_after: int | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.retry_after = retry_after
        self.more = more


class NotFound(ApiError):
    status_code = 404
    default_code = "not_found"
    default_detail = _("Not found.")


class InvalidImage(ApiError):
    status_code = 400
    default_code = "invalid_image"
    default_detail = _("The image is broken or too large to open.")


class FileTooLarge(ApiError):
    status_code = 413
    default_code = "file_too_large"
    default_detail = _("The file is too large.")


class UnsupportedMediaType(ApiError):
    status_code = 415
    default_code = "unsupported_media_type"
    default_detail = _("Only JPEG, PNG, WebP and GIF images are accepted.")


class RateLimited(ApiError):
    """Always with `retry_after`, in whole seconds."""

    status_code = 429
    default_code = "rate_limited"
    default_detail = _("Too many requests. Please wait a moment.")


class ServiceUnavailable(ApiError):
    status_code = 503
    default_code = "service_unavailable"
    default_detail = _("The service is busy. Please try again in a moment.")
