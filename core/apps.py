from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "core"

    def ready(self) -> None:
        from django.conf import settings

        from core import checks, secret_settings  # noqa: F401  (they register themselves)
        from core.api import ratelimits
        from core.conf import Defaults
        from core.database import statements  # noqa: F401  (registers the lookup AnyOf)

        ratelimits.register("CORE", Defaults().RATES)
        secret_settings.register(
            "SECRET_KEY",
            secret_settings.KEY_BYTES,
            # Codes, image signatures and admin sessions use SECRET_KEY.
            lambda: [settings.SECRET_KEY, *map(str, settings.SECRET_KEY_FALLBACKS)],
        )
