"""`manage.py createsuperuser`: Django's command, with a row in the audit log."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser

from accounts.models import User
from accounts.services import audit
from core.commands import PlainCommand, actor


class Command(PlainCommand, createsuperuser.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        # Django's command asks at the terminal and does not return the account, so no transaction holds both.
        last_id = User.objects.order_by("-id").values_list("id", flat=True).first() or 0
        super().handle(*args, **options)
        for user in User.objects.filter(id__gt=last_id, is_superuser=True):
            audit.record(action="user.added", actor=actor(), target=user)
