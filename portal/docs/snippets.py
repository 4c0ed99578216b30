"""One request as curl, JavaScript and Python. `BASE` and `TOKEN` are set by the reader."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Call:
    """A request to show: a path with example values, its query, headers and body."""

    method: str
    path: str
    query: dict[str, Any]
    headers: dict[str, str]
    token: str  # the name of the variable that holds the bearer token
    body: Any
    form: dict[str, Any] | None
    binary: bool

    @property
    def address(self) -> str:
        return self.path + (f"?{urlencode(self.query)}" if self.query else "")


def snippets(call: Call) -> list[tuple[str, str]]:
    """(language, code) of the request, in the order of the tabs."""
    return [("bash", curl(call)), ("js", javascript(call)), ("python", python(call))]


def _text(value: Any, **options: Any) -> str:
    return json.dumps(value, ensure_ascii=False, **options)


def curl(call: Call) -> str:
    method = "" if call.method == "GET" else f" -X {call.method}"
    parts = [f'curl{method} "$BASE{call.address}"']
    if call.token:
        parts.append(f'-H "Authorization: Bearer ${call.token}"')
    parts += [f'-H "{name}: {value}"' for name, value in call.headers.items()]
    if call.form is not None:
        parts += [
            f"-F {name}=@photo.jpg" if name == "file" else f"-F '{name}={value}'" for name, value in call.form.items()
        ]
    elif call.body is not None:
        parts.append(f"-H 'Content-Type: {JSON}'")
        parts.append("-d '" + _text(call.body).replace("'", "'\\''") + "'")
    if call.binary:
        parts.append("-o reply.bin")
    return " \\\n  ".join(parts) + "\n"


def javascript(call: Call) -> str:
    headers = {name: _js_value(value) for name, value in call.headers.items()}
    if call.token:
        headers = {"Authorization": f"`Bearer ${{{call.token}}}`"} | headers
    lines = []
    if call.form is not None:
        lines.append("const form = new FormData();")
        for name, value in call.form.items():
            # In a browser: the file of an <input type="file">.
            shown = 'photo, "photo.jpg"' if name == "file" else _text(str(value))
            lines.append(f"form.append({_text(name)}, {shown});")
    if call.body is not None:
        headers["Content-Type"] = _text(JSON)
    options = [] if call.method == "GET" else [f"  method: {_text(call.method)},"]
    if headers:
        shown = ", ".join(f"{name if name.isalpha() else _text(name)}: {value}" for name, value in headers.items())
        options.append(f"  headers: {{ {shown} }},")
    if call.body is not None:
        options.append(f"  body: JSON.stringify({_text(call.body)}),")
    elif call.form is not None:
        options.append("  body: form,")
    inner = ", {\n" + "\n".join(options) + "\n}" if options else ""
    lines.append(f"const response = await fetch(`${{BASE}}{call.address}`{inner});")
    lines.append(
        "const bytes = await response.arrayBuffer();" if call.binary else "console.log(await response.json());"
    )
    return "\n".join(lines) + "\n"


def _js_value(value: str) -> str:
    return f"`${{{value[1:]}}}`" if value.startswith("$") else _text(value)


def python(call: Call) -> str:
    headers = [
        f'"{name}": {value[1:] if value.startswith("$") else _text(value)}' for name, value in call.headers.items()
    ]
    if call.token:
        headers.insert(0, f'"Authorization": f"Bearer {{{call.token}}}"')
    options = [f"    headers={{{', '.join(headers)}}},"] if headers else []
    if call.form is not None:
        rest = {name: value for name, value in call.form.items() if name != "file"}
        options.append('    files={"file": open("photo.jpg", "rb")},')
        if rest:
            options.append(f"    data={rest!r},".replace("'", '"'))
    elif call.body is not None:
        options.append(f"    json={_python_value(call.body)},")
    lines = [
        "import httpx\n",
        "response = httpx.request(",
        f'    "{call.method}",',
        f'    f"{{BASE}}{call.address}",',
        *options,
        ")",
    ]
    lines.append("content = response.content" if call.binary else "print(response.json())")
    return "\n".join(lines) + "\n"


def _python_value(value: Any) -> str:
    """JSON as Python writes it, with double quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {_python_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_python_value, value)) + "]"
    if value is None or isinstance(value, bool):
        return str(value)
    return _text(value)
