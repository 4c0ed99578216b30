"""Shapes: serializers whose declared fields both describe a JSON object and build it from a row.

The REST framework's own way takes many times as long, so a function is written and compiled for each class, as for a
named tuple: docs/decisions/documents.md#0113
"""

from collections.abc import Callable
from typing import Any, ClassVar, cast

from rest_framework import serializers

from core.times import json_time


class Shape(serializers.Serializer):
    """A JSON object that is read from a row by the names of its fields.

    A field takes the attribute of its name, or of its `source` (`*` is the row itself), as it is. A nested shape and a
    field with a method `render` render what they take, and times are written as everywhere in the API. None stays None
    if the field allows it. A field that is not required is left out.

    Override `render` for what is not an attribute of the row, and pass it to `build` under the name of its field.
    """

    # (row, **computed) → the JSON object.
    build: ClassVar[Callable[..., dict[str, Any]]] = dict
    # The same, unless a class overrides it.
    render: ClassVar[Callable[..., Any]] = dict

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        build = _builder(cls)
        if cls.render is cls.build:
            cls.render = build
        cls.build = build


def _builder(shape: type[Shape]) -> Callable[..., dict[str, Any]]:
    """A function like

    def build(_row, *, id=..., created_at=..., silent=...):
        _reply = {"id": _row.id if id is ... else id,
                  "created_at": _render_created_at(_row.created_at) if created_at is ... else created_at}
        if silent is not ...: _reply["silent"] = silent
        return _reply
    """
    fields = {name: field for name, field in shape._declared_fields.items() if name != "ok"}
    renders = {f"_render_{name}": render for name, field in fields.items() if (render := _render_of(field))}
    always = [name for name, field in fields.items() if field.required]
    items = [f"{name!r}: {_value(name, fields[name], renders)} if {name} is ... else {name}" for name in always]
    lines = [
        f"def build(_row, *, {', '.join(f'{name}=...' for name in fields)}):" if fields else "def build(_row):",
        f"    _reply = {{{', '.join(items)}}}",
        *(f"    if {name} is not ...: _reply[{name!r}] = {name}" for name in fields if name not in always),
        "    return _reply",
    ]
    names: dict[str, Any] = dict(renders)
    # The text has nothing but names that a class declares.
    exec(compile("\n".join(lines), f"<fields of {shape.__name__}>", "exec"), names)  # noqa: S102
    return staticmethod(names["build"])


def _value(name: str, field: serializers.Field, renders: dict[str, Any]) -> str:
    """The expression that reads a field of `_row`."""
    source = field.source or name
    taken = "_row" if source == "*" else f"_row.{source}"
    render = f"_render_{name}"
    if render not in renders:
        return taken
    if isinstance(field, serializers.ListSerializer):
        return f"[{render}(_item) for _item in {taken}]"
    if field.allow_null:
        return f"(None if (_value := {taken}) is None else {render}(_value))"
    return f"{render}({taken})"


def _render_of(field: serializers.Field) -> Callable[[Any], Any] | None:
    """Renders what a field takes, or one item of a list; None if it stays as it is."""
    if isinstance(field, serializers.ListSerializer):
        return _render_of(cast(serializers.Field, field.child))
    if isinstance(field, serializers.DateTimeField):
        return json_time
    return getattr(field, "render", None)
