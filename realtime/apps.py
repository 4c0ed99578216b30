from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RealtimeConfig(AppConfig):
    name = "realtime"
    verbose_name = _("Live wire")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts import ratelimits
        from realtime import receivers  # noqa: F401
        from realtime.conf import conf

        ratelimits.register(conf.RATES)
