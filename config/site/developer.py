"""The mailbox and the push outbox: only with DEBUG=1, and only for a browser on this machine."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config.access import is_developer
from config.site import mailbox
from config.site.shell import page

MAIL_FIELDS = ("to", "subject", "text", "code", "created_at")


def developers_only(request: HttpRequest) -> None:
    if not is_developer(request):
        raise Http404


@require_safe
@never_cache
def dev_mail(request: HttpRequest) -> HttpResponse:
    developers_only(request)
    to = request.GET.get("to", "")
    return page(request, "mailbox", to=to, mails=mailbox.mails(to=to))


@require_safe
@never_cache
def dev_mail_json(request: HttpRequest) -> HttpResponse:
    developers_only(request)
    mails = mailbox.mails(to=request.GET.get("to", ""))
    rows = [{name: getattr(mail, name) for name in MAIL_FIELDS} for mail in mails]
    return JsonResponse({"ok": True, "mails": rows})


@require_safe
@never_cache
def dev_push(request: HttpRequest) -> HttpResponse:
    developers_only(request)
    return page(request, "outbox", pushes=mailbox.pushes())


@require_safe
@never_cache
def dev_push_json(request: HttpRequest) -> HttpResponse:
    developers_only(request)
    return JsonResponse({"ok": True, "pushes": [push.payload for push in mailbox.pushes()]})
