from django.apps import AppConfig, apps
from django.contrib.admin import apps as admin
from django.db.models.signals import post_migrate


class ParleyConfig(AppConfig):
    default = True
    name = "config"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from config import checks, schema  # noqa: F401  (checks register; the schema learns the bearer scheme)
        from config.groups import make_groups

        # Django makes the permissions of each app in turn; after the last one they are all there.
        last = [app for app in apps.get_app_configs() if app.models_module][-1]
        post_migrate.connect(make_groups, sender=last, dispatch_uid="staff groups")


class StaffAdminConfig(admin.AdminConfig):
    """Django's admin behind the staff's own door."""

    default = False
    default_site = "accounts.staff.site.StaffSite"
