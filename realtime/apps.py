from django.apps import AppConfig


class RealtimeConfig(AppConfig):
    name = "realtime"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts import ratelimits
        from realtime import receivers  # noqa: F401
        from realtime.conf import conf

        ratelimits.register(conf.RATES)
