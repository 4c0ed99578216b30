"""All paths of the service. An app's own urls.py reads like the contract's table."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from accounts.viewsets.security import email_undo_page
from config import health, metrics, web_client
from config.site import contents, mailbox, shell
from config.site import views as site

urlpatterns = [
    # Paths are tried in order, so the most frequent ones come first.
    path("api/v1/", include("messaging.urls")),
    path("api/v1/", include("notifications.urls")),
    path("api/v1/", include("accounts.urls")),
    path("api/v1/", include("realtime.urls")),
    path("api/v1/schema", site.SchemaView.as_view(), name="schema"),
    path("admin/", admin.site.urls),
    path("admin", RedirectView.as_view(url="/admin/")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("", web_client.client, name="landing"),
    path("app/catalog/<str:language>.json", web_client.client_catalog, name="client-catalog"),
    path("app", RedirectView.as_view(url="/app/")),
    path("app/", web_client.client, name="client"),
    path("app/<path:path>", web_client.client, name="client-page"),
    path("docs", site.index, name="documents"),
    path("docs/search", site.find, name="search"),
    path("docs/search.json", site.find_json, name="search-json"),
    path("docs/quickstart", site.quickstart, name="quickstart"),
    path("docs/changelog", site.changelog, name="changelog"),
    path("docs/errors", site.error_codes, name="errors"),
    path("docs/realtime", site.realtime_protocol, name="realtime"),
    path("docs/reference", site.reference_index, name="reference"),
    path("docs/reference/<str:operation_id>", site.reference_operation, name="reference-operation"),
    *[path(f"docs/{page.name}", site.guide, {"page": page}, name=page.name) for page in contents.guides()],
    path("docs/", RedirectView.as_view(pattern_name="documents", permanent=True)),
    path("api/docs/", RedirectView.as_view(pattern_name="api-docs", permanent=True)),
    path("docs/api", RedirectView.as_view(pattern_name="api-docs")),
    path("api/docs", site.api_docs, name="api-docs"),
    path("email-undo/<str:token>", email_undo_page, name="email-undo"),
    path("favicon.ico", site.favicon, name="favicon"),
    path("robots.txt", site.robots, name="robots"),
    path("dev/mail/", mailbox.dev_mail, name="dev-mail"),
    path("dev/mail.json", mailbox.dev_mail_json, name="dev-mail-json"),
    path("dev/push/", mailbox.dev_push, name="dev-push"),
    path("dev/push.json", mailbox.dev_push_json, name="dev-push-json"),
    # Last: unknown paths get our 404, with DEBUG=1 too.
    re_path("", shell.not_found),
]

handler400 = "core.errors.bad_request"
handler403 = "core.errors.permission_denied"
handler404 = "config.site.shell.not_found"
handler500 = "core.errors.server_error"
