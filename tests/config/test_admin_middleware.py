"""The middleware of the admin costs other requests nothing."""

from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpResponse
from django.test import RequestFactory

from server.admin_middleware import AdminMessageMiddleware, AdminSessionMiddleware


def chain():
    """Two of the admin's middlewares and a view, put together as Django does."""
    seen = []

    def view(request):
        seen.append(hasattr(request, "session") and hasattr(request, "_messages"))
        return HttpResponse()

    inner = AdminMessageMiddleware(view)
    return AdminSessionMiddleware(convert_exception_to_response(inner)), inner, seen


def test_other_requests_skip_all_of_them_in_one_step(monkeypatch):
    outer, inner, seen = chain()
    monkeypatch.setattr(type(inner), "__call__", None)
    assert outer(RequestFactory().get("/api/v1/auth/me")).status_code == 200
    assert seen == [False]


def test_the_admin_passes_each():
    outer, _, seen = chain()
    assert outer(RequestFactory().get("/admin/")).status_code == 200
    assert seen == [True]
