"""All paths of the service. An app's own urls.py reads like the contract's table."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from accounts.viewsets.security import email_undo_page
from integrations.viewsets import jwks
from portal import pages
from portal.client import catalogs, page
from portal.development import mailbox
from portal.docs import contents
from portal.docs import views as site
from portal.packages import views as packages
from server import error_pages, health, metrics

urlpatterns = [
    # Paths are tried in order, so the most frequent ones come first.
    path("api/v1/", include("messaging.urls")),
    path("api/v1/", include("notifications.urls")),
    path("api/v1/", include("accounts.urls")),
    path("api/v1/", include("realtime.urls")),
    path("api/v1/", include("integrations.urls")),
    path("api/v1/schema", site.SchemaView.as_view(), name="schema"),
    path(".well-known/jwks.json", jwks, name="jwks"),
    path("admin/", admin.site.urls),
    path("admin", RedirectView.as_view(url="/admin/")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("", page.client, name="landing"),
    path("app/catalog/<str:language>.json", catalogs.client_catalog, name="client-catalog"),
    path("app/manifest.json", page.manifest, name="client-manifest"),
    path("app", RedirectView.as_view(url="/app/")),
    path("app/", page.client, name="client"),
    path("app/<path:path>", page.client, name="client-page"),
    path("docs", site.index, name="documents"),
    path("docs/search", site.find, name="search"),
    path("docs/search.json", site.find_json, name="search-json"),
    path("docs/examples/<str:name>", site.example, name="example"),
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
    path("sdk", RedirectView.as_view(url="/sdk/")),
    path("sdk/", packages.listing, name="packages"),
    path("sdk/<str:name>", packages.package, name="package"),
    path("email-undo/<str:token>", email_undo_page, name="email-undo"),
    path("logo", pages.logo, name="logo"),
    path("favicon.ico", pages.favicon, name="favicon"),
    path("robots.txt", pages.robots, name="robots"),
    path("dev/mail/", mailbox.dev_mail, name="dev-mail"),
    path("dev/mail.json", mailbox.dev_mail_json, name="dev-mail-json"),
    path("dev/push/", mailbox.dev_push, name="dev-push"),
    path("dev/push.json", mailbox.dev_push_json, name="dev-push-json"),
    # Last, so that unknown paths get our 404, even with DEBUG=1.
    re_path("", error_pages.not_found),
]

handler400 = "server.error_pages.bad_request"
handler403 = "server.error_pages.permission_denied"
handler404 = "server.error_pages.not_found"
handler500 = "server.error_pages.server_error"
