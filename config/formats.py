"""The format of times on the support pages: year first and with the zone, in every language."""

import sys

from django.conf import settings
from django.utils.translation import to_locale

DATETIME_FORMAT = "Y-m-d H:i T"

# Below FORMAT_MODULE_PATH Django imports a module for each language; this one stands in for all of them.
for _code, _name in settings.LANGUAGES:
    sys.modules[f"{__name__}.{to_locale(_code)}.formats"] = sys.modules[__name__]
