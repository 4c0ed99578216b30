"""The API of each installed app."""

from django.conf import settings
from django.urls import include, path

urlpatterns = [path("api/v1/", include(f"{app}.urls")) for app in settings.APPS if app != "core"]
