"""All paths of the service. An app's own urls.py reads like the contract's table."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from accounts.viewsets.email_undo import email_undo_page
from config import errors, health, metrics, pages

urlpatterns = [
    # Paths are tried in turn: what is asked for most comes first.
    path("api/v1/", include("messaging.urls")),
    path("api/v1/", include("notifications.urls")),
    path("api/v1/", include("accounts.urls")),
    path("api/v1/", include("realtime.urls")),
    path("api/v1/schema", pages.SchemaView.as_view(), name="schema"),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("", pages.landing, name="landing"),
    path("email-undo/<str:token>", email_undo_page, name="email-undo"),
    path("api/docs", pages.api_docs, name="api-docs"),
    path("docs/quickstart", pages.quickstart, name="quickstart"),
    path("docs/errors", pages.errors, name="errors"),
    path("docs/reference", pages.reference_index, name="reference"),
    path("docs/reference/<str:operation_id>", pages.reference_operation, name="reference-operation"),
    path("docs/realtime", pages.realtime, name="realtime"),
    *[path(f"docs/{name}", pages.guide, {"name": name}, name=name) for name in pages.GUIDES],
    path("docs/changelog", pages.changelog, name="changelog"),
    path("docs/api", RedirectView.as_view(pattern_name="api-docs")),
    path("dev/mail/", pages.dev_mail, name="dev-mail"),
    path("dev/mail.json", pages.dev_mail_json, name="dev-mail-json"),
    path("dev/push/", pages.dev_push, name="dev-push"),
    path("dev/push.json", pages.dev_push_json, name="dev-push-json"),
    # Last: an unknown path is answered by us, with DEBUG=1 too.
    re_path("", errors.not_found),
]

handler400 = "config.errors.bad_request"
handler403 = "config.errors.permission_denied"
handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"
