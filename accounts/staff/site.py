"""The staff's door: password and a one-time code from an app, with the lock-out of every sign-in."""

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth import login as start_admin_session
from django.contrib.auth import logout as end_admin_session
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from accounts.models import User
from accounts.services import audit
from accounts.staff import second_factor
from accounts.staff.forms import FirstCodeForm, StaffLoginForm
from accounts.staff.overview import overview

BACKEND = "django.contrib.auth.backends.ModelBackend"


class StaffSite(AdminSite):
    """Django's admin: stock pages, our sign-in, a dashboard, and no page without a second factor."""

    site_header = _("Parley support")
    site_title = _("Parley support")
    index_title = _("Overview")
    index_template = "admin/overview.html"
    login_form = StaffLoginForm
    login_template = "admin/sign_in.html"
    enable_nav_sidebar = True

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and second_factor.is_confirmed(request)

    def get_urls(self) -> list[Any]:
        own: list[URLPattern] = [
            path("second-factor/", self.second_factor_view, name="second_factor"),
            # A password is changed over the API, by its own rules and with all that follows from it.
            path("password_change/", self.nowhere),
            path("password_change/done/", self.nowhere),
        ]
        return own + super().get_urls()

    def nowhere(self, request: HttpRequest) -> HttpResponse:
        raise Http404

    @method_decorator(never_cache)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.method == "GET" and self.has_permission(request):
            return HttpResponseRedirect(reverse("admin:index", current_app=self.name))
        form = StaffLoginForm(request, data=request.POST or None)
        if request.method == "POST" and form.is_valid():
            user: User = form.get_user()
            start_admin_session(request, user, backend=BACKEND)
            if form.device is not None:
                second_factor.confirm(request, form.device)
            audit.record(action="admin.signed_in", actor=user)
            if form.device is None:
                return HttpResponseRedirect(reverse("admin:second_factor", current_app=self.name))
            return HttpResponseRedirect(self._next(request))
        context = {
            **self.each_context(request),
            "title": _("Sign in"),
            "form": form,
            "next": request.GET.get("next", ""),
            **(extra_context or {}),
        }
        return TemplateResponse(request, self.login_template, context, status=200)

    def _next(self, request: HttpRequest) -> str:
        wanted = request.POST.get("next") or request.GET.get("next", "")
        if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure()):
            return wanted
        return reverse("admin:index", current_app=self.name)

    @method_decorator(never_cache)
    def second_factor_view(self, request: HttpRequest) -> HttpResponse:
        """Where a staff member without a second factor gets one: a QR code, then the first code."""
        if not super().has_permission(request) or not isinstance(request.user, User):
            return HttpResponseRedirect(reverse("admin:login", current_app=self.name))
        if second_factor.has_one(request.user):
            # Whoever knows only the password does not get to replace the second factor.
            if not second_factor.is_confirmed(request):
                end_admin_session(request)
            return HttpResponseRedirect(reverse("admin:index", current_app=self.name))
        device = second_factor.pending_device(request.user)
        form = FirstCodeForm(device, data=request.POST or None)
        if request.method == "POST" and form.is_valid():
            codes = second_factor.activate(device)
            second_factor.confirm(request, device)
            audit.record(action="admin.second_factor_added", actor=request.user, target=request.user)
            return TemplateResponse(
                request,
                "admin/second_factor_done.html",
                {**self.each_context(request), "title": _("Second factor added"), "codes": codes},
            )
        context = {
            **self.each_context(request),
            "title": _("Add a second factor"),
            "form": form,
            "picture": second_factor.picture(device),
            "secret": second_factor.secret(device),
        }
        return TemplateResponse(request, "admin/second_factor.html", context)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        return super().index(request, {"overview": overview(), **(extra_context or {})})
