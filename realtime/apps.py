from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RealtimeConfig(AppConfig):
    name = "realtime"
    verbose_name = _("Real-time channel")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts.services import export
        from core import secret_settings
        from core.api import ratelimits
        from notifications.services.delivery import register_socket_statuses
        from realtime import receivers  # noqa: F401
        from realtime.calls import admin, checks  # noqa: F401
        from realtime.calls.selectors import export_files
        from realtime.conf import Defaults, conf
        from realtime.services import sockets

        ratelimits.register("REALTIME", Defaults().RATES)
        secret_settings.register(
            "TURN_SECRET",
            # Every client sees texts and their HMAC under it.
            secret_settings.KEY_BYTES,
            lambda: [conf.TURN_SECRET],
            hint="coturn has the same one as static-auth-secret.",
        )
        export.register("calls", export_files)
        register_socket_statuses(sockets.socket_statuses)
