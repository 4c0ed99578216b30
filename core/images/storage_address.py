"""The address of a bucket for images, as MEDIA_URL and `move_media` take it."""

import importlib.util
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured


def storage_at(name: str, address: str) -> dict[str, Any]:
    """Django's settings of a storage for `s3://key:secret@bucket?endpoint=https://host&region=name`.

    ImproperlyConfigured, with the name of the variable or option, for any other address. No error repeats the address,
    which holds a secret.
    """
    form = f"{name} is s3://bucket?endpoint=https://host&region=name, with key:secret@ if needed."
    try:
        parts = urlsplit(address.strip())
        _ = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(form) from error
    if parts.scheme != "s3" or not parts.hostname or parts.path.strip("/"):
        raise ImproperlyConfigured(form)
    if importlib.util.find_spec("storages") is None or importlib.util.find_spec("boto3") is None:
        raise ImproperlyConfigured(f"{name} needs `pip install -r requirements-optional.txt`.")
    query = dict(parse_qsl(parts.query))
    if unknown := sorted(set(query) - {"endpoint", "region"}):
        raise ImproperlyConfigured(f"{name} knows endpoint and region, not {', '.join(unknown)}.")
    key = unquote(parts.username or "")
    if not (key.isascii() and key.isprintable()):
        raise ImproperlyConfigured(f"{name} is part of a header: printable ASCII characters only.")
    options = {
        "bucket_name": parts.netloc.rpartition("@")[2],
        "endpoint_url": query.get("endpoint"),
        "region_name": query.get("region"),
        "access_key": key or None,
        "secret_key": unquote(parts.password or "") or None,
    }
    return {"BACKEND": "core.images.storage.BucketStorage", "OPTIONS": {k: v for k, v in options.items() if v}}
