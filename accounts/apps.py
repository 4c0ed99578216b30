from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = _("Accounts")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts import checks, media  # noqa: F401  (checks register themselves)
        from accounts.conf import Defaults
        from accounts.models import Image, RateCount
        from core import ratelimits

        ratelimits.register("ACCOUNTS", Defaults().RATES)
        ratelimits.count_with(RateCount.objects.count_use)
        media.register(Image.Kind.AVATAR, media.avatar_is_visible)
