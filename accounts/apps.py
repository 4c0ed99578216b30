from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = _("Accounts")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts import checks  # noqa: F401  (checks register themselves)
        from accounts.conf import Defaults
        from accounts.images import access
        from accounts.models import Image, RateCount
        from accounts.tokens import token_secrets
        from core import secret_settings
        from core.api import ratelimits

        ratelimits.register("ACCOUNTS", Defaults().RATES)
        secret_settings.register(
            "TOKEN_KEYS",
            secret_settings.KEY_BYTES,
            token_secrets,
            hint="TOKEN_KEYS is kid:secret[,kid:secret…], newest first.",
        )
        ratelimits.count_with(RateCount.objects.count_use)
        access.register(Image.Kind.AVATAR, access.avatar_is_visible)
