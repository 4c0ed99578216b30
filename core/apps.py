from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "core"

    def ready(self) -> None:
        from core import lookups, ratelimits  # noqa: F401  (the lookups register themselves)
        from core.conf import Defaults

        ratelimits.register("CORE", Defaults().RATES)
