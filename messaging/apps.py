from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MessagingConfig(AppConfig):
    name = "messaging"
    verbose_name = _("Messaging")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts import ratelimits
        from accounts.services import export
        from messaging import receivers  # noqa: F401
        from messaging.conf import conf
        from messaging.services.export import files_of

        ratelimits.register(conf.RATES)
        export.register("messages", files_of)
