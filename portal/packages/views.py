"""`/sdk/`: the packages of this instance."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from core.version import VERSION
from portal.packages import npm, packages

FOREVER = "public, max-age=31536000, immutable"
CURRENT = f"{npm.NAME}.tgz"


@require_safe
def listing(request: HttpRequest) -> JsonResponse:
    """Names, versions and checksums."""
    files = [
        {
            "name": package.name,
            "version": package.version,
            "size": len(package.content),
            "integrity": package.integrity,
            "url": f"/sdk/{package.name}",
        }
        for package in packages().values()
    ]
    body = {"ok": True, "version": VERSION, "files": files}
    return JsonResponse(body, headers={"Cache-Control": "no-cache", "Access-Control-Allow-Origin": "*"})


@require_safe
def package(request: HttpRequest, name: str) -> HttpResponse:
    """One of them. `parley.tgz` is the JavaScript package of the version that runs."""
    found = packages().get(npm.file_name() if name == CURRENT else name)
    if found is None:
        raise Http404
    headers = {
        "Access-Control-Allow-Origin": "*",
        "Cache-Control": "no-cache" if name == CURRENT else FOREVER,
        "Content-Disposition": f'attachment; filename="{found.name}"',
    }
    return HttpResponse(found.content, content_type="application/octet-stream", headers=headers)
