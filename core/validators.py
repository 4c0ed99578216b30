"""Validators of form fields."""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from core.characters import is_invisible


def refuse_invisible(text: str) -> None:
    """ValidationError for a text without a visible character, as for an empty one."""
    if is_invisible(text):
        raise ValidationError(_("This field is required."), code="required")
