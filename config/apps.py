from django.apps import AppConfig


class ParleyConfig(AppConfig):
    name = "config"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from config import schema  # noqa: F401  (names the bearer scheme to drf-spectacular)
