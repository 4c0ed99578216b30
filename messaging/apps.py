from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MessagingConfig(AppConfig):
    name = "messaging"
    verbose_name = _("Messaging")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts.images import access
        from accounts.services import export
        from core.api import ratelimits
        from messaging import receivers  # noqa: F401
        from messaging.conf import Defaults
        from messaging.export import export_files
        from messaging.selectors import message_image_is_visible

        ratelimits.register("MESSAGING", Defaults().RATES)
        access.register("message", message_image_is_visible)
        export.register("messages", export_files, staff_permission="messaging.reveal_message")
