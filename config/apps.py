from django.apps import AppConfig


class ParleyConfig(AppConfig):
    name = "config"
    default_auto_field = "django.db.models.BigAutoField"
