from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class IntegrationsConfig(AppConfig):
    name = "integrations"
    verbose_name = _("Your own server")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from core.api import ratelimits
        from integrations import checks, receivers  # noqa: F401
        from integrations.conf import Defaults
        from integrations.services import webhooks
        from notifications.services import delivery

        ratelimits.register("INTEGRATIONS", Defaults().RATES)
        delivery.register_webhooks(webhooks.handlers)
