from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class NotificationsConfig(AppConfig):
    name = "notifications"
    verbose_name = _("Notifications")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts.services import export
        from core import secret_settings
        from core.api import ratelimits
        from notifications import checks, receivers  # noqa: F401
        from notifications.conf import Defaults
        from notifications.export import export_files
        from notifications.services.ingestion import source_keys

        ratelimits.register("NOTIFICATIONS", Defaults().RATES)
        secret_settings.register(
            "EVENT_SOURCES",
            secret_settings.KEY_BYTES,
            source_keys,
            hint="A comma, a semicolon or a space inside a key splits it.",
        )
        export.register("notifications", export_files)
