"""`manage.py stats`: people, messages and the delivery queue in numbers."""

from typing import Any

from django.contrib.auth import get_user_model

from core.commands import OperatorCommand
from notifications import selectors
from notifications.models import Notification


class Command(OperatorCommand):
    help = "Show counts of users, notifications, devices and the delivery queue."
    changes = False

    def act(self, **options: Any) -> dict[str, Any]:
        users = get_user_model().objects
        people = {"all": users.count(), "confirmed": users.verified().count(), "blocked": users.blocked().count()}
        rows = {"all": Notification.objects.count(), "unread": Notification.objects.unread().count()}
        return {"people": people, "notifications": rows, **selectors.delivery_figures()}
