"""The admin site: sign-in with password and TOTP code, with the login lockout of the API.

Each session of the admin has a `Session` row behind its cookie: it is listed, and ends with the others.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, cast

import django_otp
from django.conf import settings
from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.auth import login as start_admin_session
from django.contrib.auth import logout as end_admin_session
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.auth.views import LoginView
from django.dispatch import receiver
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django_otp.admin import OTPAdminSite
from rest_framework.permissions import SAFE_METHODS

from accounts.client import client_of
from accounts.exceptions import AccountBlocked
from accounts.hashers import hashes_password
from accounts.models import User
from accounts.services import audit
from accounts.sign_in import sessions, stages
from accounts.staff import overview, sign_in
from accounts.staff.lookups import ShownColumnsOnly
from accounts.staff.overview import Task
from accounts.staff.sign_in import FirstCodeForm, SecondPasswordForm, StaffLoginForm
from core.api import errors, ratelimits
from core.api.exceptions import RateLimited
from core.api.throttles import WRITES, by_address, throttles
from core.conf import project
from core.database.transactions import unit_of_work
from core.network import network_of_request
from core.version import VERSION

BACKEND = "django.contrib.auth.backends.ModelBackend"
SESSION_KEY = "accounts_session_id"
# The attribute of the request that caches the result.
_IS_LIVE = "_staff_session_is_live"


def session_is_live(request: HttpRequest) -> bool:
    """Whether the session behind this cookie is still valid; read once per request."""
    attributes = vars(request)
    if _IS_LIVE not in attributes:
        attributes[_IS_LIVE] = sessions.is_live_in_admin(
            session_id=request.session.get(SESSION_KEY), user_id=request.user.pk
        )
    return bool(attributes[_IS_LIVE])


# By signal, so that a session is created however Django signs in.
@receiver(user_logged_in)
def start_session(request: HttpRequest, user: User, **kwargs: Any) -> None:
    with unit_of_work():
        account = User.objects.lock(user.pk)
        if account.password != user.password:
            return  # changed since it was compared; without a row the session is not valid
        client, lifetime = client_of(request), timedelta(seconds=settings.SESSION_COOKIE_AGE)
        try:
            stages.start_session(account, client)
        except AccountBlocked:
            return
        session = sessions.start_in_admin(user=account, client=client, lifetime=lifetime)
    request.session[SESSION_KEY] = session.id
    vars(request)[_IS_LIVE] = True


@receiver(user_logged_out)
def end_session(request: HttpRequest, user: User | None, **kwargs: Any) -> None:
    row_id = request.session.get(SESSION_KEY)
    if user is not None and row_id is not None:
        sessions.end_in_admin(user_id=user.pk, session_id=row_id, reason="logout")


View = Callable[..., HttpResponseBase]


def writes_limited(view: View) -> View:
    """Wraps a view: a write beyond the rate gets a page with status 429."""

    @throttles(WRITES)
    @wraps(view)
    def limited(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method not in SAFE_METHODS:
            try:
                ratelimits.check(WRITES.scope, request.user.pk or network_of_request(request))
            except RateLimited as error:
                return errors.rate_limited(request, error)
        return view(request, *args, **kwargs)

    return limited


class StaffLoginView(LoginView):
    """Django's sign-in with the form that checks password and code. Without a second factor it leads to adding one."""

    form_class = StaffLoginForm
    template_name = "admin/sign_in.html"
    next_page = "admin:index"

    def form_valid(self, form: StaffLoginForm) -> HttpResponse:  # type: ignore[override]
        start_admin_session(self.request, form.get_user(), backend=BACKEND)
        django_otp.login(self.request, form.device)
        audit.record(action="admin.signed_in", actor=form.get_user())
        return HttpResponseRedirect(reverse("admin:second_factor") if form.device is None else self.get_success_url())

    def form_invalid(self, form: StaffLoginForm) -> HttpResponse:  # type: ignore[override]
        response = super().form_invalid(form)
        if form.retry_after is not None:
            response.status_code, response["Retry-After"] = 429, str(form.retry_after)
        return response


# What django-otp does here, and which parts are the project's own: docs/decisions/staff.md#0067
class StaffSite(OTPAdminSite):
    """The admin site of django-otp with this project's sign-in and dashboard; every page requires a second factor."""

    site_header = site_title = format_lazy(_("{product} support"), product=project.PRODUCT_NAME)
    index_title = _("Overview")
    index_template = "admin/overview.html"
    enable_nav_sidebar = True

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Applies the rule about hidden columns to pages of other packages, too."""
        admin_class = admin_class or ModelAdmin
        if not issubclass(admin_class, ShownColumnsOnly):
            admin_class = type(admin_class.__name__, (ShownColumnsOnly, admin_class), {})
        super().register(model_or_iterable, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and session_is_live(request)

    def get_urls(self) -> list[Any]:
        own: list[URLPattern] = [
            path("second-factor/", writes_limited(self.second_factor_view), name="second_factor"),
            # Passwords are changed over the API, which also ends sessions and notifies the owner.
            path("password_change/", self.page_not_found),
            path("password_change/done/", self.page_not_found),
            # Views of Django that no page here uses, and that fail on some input.
            path("autocomplete/", writes_limited(self.page_not_found)),
            path("r/<path:content_type_id>/<path:object_id>/", writes_limited(self.page_not_found)),
        ]
        return own + super().get_urls()

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        return super().admin_view(writes_limited(view), cacheable)

    def page_not_found(self, request: HttpRequest, **kwargs: str) -> HttpResponse:
        raise Http404

    # Counted in the form, by the counters of the API's sign-in.
    @hashes_password
    @throttles(*by_address("login"))
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.method == "GET" and self.has_permission(request):
            return HttpResponseRedirect(reverse("admin:index", current_app=self.name))
        context = {**self.each_context(request), "title": _("Sign in"), **(extra_context or {})}
        return cast(HttpResponse, StaffLoginView.as_view(extra_context=context)(request))

    @hashes_password
    @method_decorator(never_cache)
    def second_factor_view(self, request: HttpRequest) -> HttpResponse:
        """Sets up the second factor of a staff member: a QR code, then the first code."""
        # Signed in by password at least, as a staff member, in a session that has not been ended.
        is_signed_in = AdminSite.has_permission(self, request) and session_is_live(request)
        if not is_signed_in or not isinstance(request.user, User):
            return HttpResponseRedirect(reverse("admin:login", current_app=self.name))
        if django_otp.user_has_device(request.user):
            # The password alone must not be enough to replace the second factor.
            if not self.has_permission(request):
                end_admin_session(request)
            return HttpResponseRedirect(reverse("admin:index", current_app=self.name))
        context = {**self.each_context(request), "title": _("Add a second factor")}
        # An account with a second password proves it before the key of the app is shown.
        if request.user.two_step_enabled and not sign_in.second_password_was_entered(request):
            proof = SecondPasswordForm(request.user, data=request.POST or None)
            if request.method != "POST" or not proof.is_valid():
                return TemplateResponse(request, "admin/second_factor.html", {**context, "form": proof})
            sign_in.record_second_password(request)
            return HttpResponseRedirect(request.get_full_path())
        device = sign_in.pending_device(request)
        form = FirstCodeForm(device, data=request.POST or None)
        if request.method == "POST" and form.is_valid():
            codes = sign_in.activate(device)
            django_otp.login(request, device)
            # Read again: the session has the permission from now on.
            context = {**self.each_context(request), "title": _("Second factor added"), "codes": codes}
            return TemplateResponse(request, "admin/second_factor_done.html", context)
        context |= {"form": form, "picture": sign_in.picture(device), "secret": sign_in.secret(device)}
        return TemplateResponse(request, "admin/second_factor.html", context)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        return {**super().each_context(request), "version": VERSION}

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """On the index page grouped by task: first the list that leads its task, then in order of registration."""
        apps = super().get_app_list(request, app_label)
        if app_label:
            return apps
        rows = {row["model"]: row for app in apps for row in app["models"]}
        groups: dict[Task, list[Any]] = {task: [] for task in Task}
        for model, page in sorted(self._registry.items(), key=lambda item: not getattr(item[1], "leads_task", False)):
            if model in rows:
                groups[getattr(page, "task", Task.OTHER)].append(rows[model])
        return [
            {"name": task.label, "app_label": task.value, "app_url": "", "has_module_perms": True, "models": models}
            for task, models in groups.items()
            if models
        ]

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        shown = {"overview": overview.figures(self, request), "charts": overview.charts(self, request)}
        return super().index(request, shown | (extra_context or {}))
