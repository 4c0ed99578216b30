from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "core"

    def ready(self) -> None:
        from core import database, ratelimits  # noqa: F401  (its lookup registers itself)
        from core.conf import Defaults

        ratelimits.register("CORE", Defaults().RATES)
