from django.apps import AppConfig, apps
from django.contrib.admin import apps as admin
from django.db.models.signals import post_migrate, pre_migrate
from django.utils.translation import gettext_lazy as _


class ParleyConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from django.conf import settings

        from accounts.services.audit import name_actions
        from config import checks, formats  # noqa: F401  (they register themselves)
        from config.staff_groups import make_groups, remember_permissions
        from core import secret_settings

        secret_settings.register("METRICS_TOKEN", secret_settings.TOKEN_BYTES, lambda: [settings.METRICS_TOKEN])

        # Django creates the permissions app by app; after the last app all of them exist.
        last = [app for app in apps.get_app_configs() if app.models_module][-1]
        pre_migrate.connect(remember_permissions, sender=last, dispatch_uid="permissions before")
        post_migrate.connect(make_groups, sender=last, dispatch_uid="staff groups")
        name_actions(
            {
                "media.copied": _("Images copied"),
                "purge_expired": _("Expired data deleted"),
                "backup.made": _("Backup made"),
                "backup.restored": _("Backup restored"),
            }
        )


class StaffAdminConfig(admin.AdminConfig):
    """Django's admin with the sign-in for staff."""

    default = False
    default_site = "accounts.staff.site.StaffSite"
