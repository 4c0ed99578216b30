from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class NotificationsConfig(AppConfig):
    name = "notifications"
    verbose_name = _("Notifications")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts.services import export
        from core import ratelimits
        from notifications import checks, receivers  # noqa: F401
        from notifications.conf import Defaults
        from notifications.export import export_files

        ratelimits.register("NOTIFICATIONS", Defaults().RATES)
        export.register("notifications", export_files)
