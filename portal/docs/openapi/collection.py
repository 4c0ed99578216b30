"""The operations as a Postman collection (format 2.1), which Bruno imports, too."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"


def collection(document: dict[str, Any]) -> dict[str, Any]:
    """A folder per tag, with a request per operation from its recorded example."""
    folders: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            folders[operation["tags"][0]].append(_item(path, method, operation))
    titles = {tag["name"]: tag["x-displayName"] for tag in document["tags"]}
    return {
        "info": {"name": settings.PRODUCT_NAME, "schema": SCHEMA},
        "variable": [{"key": name, "value": value} for name, value in VARIABLES.items()],
        "auth": _bearer("token"),
        "item": [{"name": titles[name], "item": items} for name, items in folders.items()],
    }


VARIABLES = {"base": "http://127.0.0.1:8000", "token": "", "two_step_token": "", "action_token": "", "server_key": ""}


def _bearer(variable: str) -> dict[str, Any]:
    return {"type": "bearer", "bearer": [{"key": "token", "value": f"{{{{{variable}}}}}", "type": "string"}]}


def _item(path: str, method: str, operation: dict[str, Any]) -> dict[str, Any]:
    places: dict[str, list[dict[str, Any]]] = {"path": [], "query": [], "header": []}
    for parameter in operation.get("parameters", []):
        places[parameter["in"]].append(parameter)
    segments = [f":{part[1:-1]}" if part.startswith("{") else part for part in path.strip("/").split("/")]
    request: dict[str, Any] = {
        "method": method.upper(),
        "description": operation["description"],
        "header": [
            {"key": row["name"], "value": "{{action_token}}" if row["name"] == "X-Action-Token" else ""}
            for row in places["header"]
            if row.get("required")
        ],
        "url": {
            "raw": "{{base}}/" + "/".join(segments),
            "host": ["{{base}}"],
            "path": segments,
            "query": [
                {"key": row["name"], "value": str(row.get("example", "")), "disabled": not row.get("required")}
                for row in places["query"]
            ],
            "variable": [{"key": row["name"], "value": str(row.get("example", 1))} for row in places["path"]],
        },
    }
    schemes = {name for choice in operation["security"] for name in choice}
    if not schemes & {"bearer", "two_step", "server_key"}:
        request["auth"] = {"type": "noauth"}
    elif "server_key" in schemes:
        request["auth"] = _bearer("server_key")
    elif "two_step" in schemes:
        request["auth"] = _bearer("two_step_token")
    if body := _body(operation):
        request["body"] = body
    return {"name": operation["summary"], "request": request}


def _body(operation: dict[str, Any]) -> dict[str, Any] | None:
    for content_type, content in operation.get("requestBody", {}).get("content", {}).items():
        value = next(iter(content["examples"].values()))["value"]
        if content_type.startswith("multipart/"):
            fields = [
                {"key": name, "type": "file", "src": []}
                if name == "file"
                else {"key": name, "type": "text", "value": text}
                for name, text in value.items()
            ]
            return {"mode": "formdata", "formdata": fields}
        raw = json.dumps(value, indent=2, ensure_ascii=False)
        return {"mode": "raw", "raw": raw, "options": {"raw": {"language": "json"}}}
    return None
