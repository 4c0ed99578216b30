"""All paths of the service. An app's own urls.py reads like the contract's table."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

urlpatterns = [
    path("api/v1/", include("accounts.urls")),
    path("api/v1/", include("messaging.urls")),
    path("api/v1/", include("notifications.urls")),
    path("api/v1/", include("realtime.urls")),
    path("api/v1/schema", SpectacularAPIView.as_view(), name="schema"),
]

handler400 = "config.errors.bad_request"
handler403 = "config.errors.permission_denied"
handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"
