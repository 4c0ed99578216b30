"""Reads the real schema of a database, PostgreSQL or SQLite, and compares two schemas.

A schema is a plain dict that JSON can hold; everything in it is keyed by name:

    {"tables": {table: {"columns": {column: {"type", "nullable", "default", "details"}},
                        "indexes": {index: {"definition", "valid"}},
                        "constraints": {constraint: {"definition", "valid"}},
                        "triggers": {trigger: definition},
                        "storage": [option, …]}},
     "sequences": {sequence: definition}, "functions": {signature: definition}, "extensions": [name, …]}

Definitions are the database's own words, without what may differ between equal schemas: the schema's name, quotes,
white space, the order of columns. `details` are an identity, a generated value, a collation and, on SQLite, what stands
at the column itself (its keys, checks and references). On PostgreSQL an index that belongs to a constraint is left out.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db import connection as default_connection

Schema = dict[str, Any]

MISSING, UNEXPECTED, CHANGED, INVALID = "missing", "unexpected", "changed", "invalid"
# The parts of a table that have names of their own.
PARTS = ("columns", "indexes", "constraints", "triggers")


class Difference(NamedTuple):
    """One difference between two schemas.

    `kind` is MISSING, UNEXPECTED, CHANGED or INVALID (an index or a constraint that PostgreSQL has not finished or
    validated); `part` is "table", "column", "index", "constraint", "trigger", "storage", "sequence", "function" or
    "extension". `name` is the part's own name, "" for a table and its storage; `table` is "" outside of tables.
    """

    kind: str
    part: str
    table: str
    name: str
    expected: Any = None
    found: Any = None

    def __str__(self) -> str:
        where = f"{self.part} {'.'.join(filter(None, (self.table, self.name)))}"
        if self.kind != CHANGED:
            return f"{where} is {self.kind}"
        return f"{where} is {_shown(self.found)} instead of {_shown(self.expected)}"


def read_schema(connection: Any = None) -> Schema:
    """The schema that a connection sees; without one, of the default database."""
    connection = connection or default_connection
    with connection.cursor() as cursor:
        return _postgresql(cursor) if connection.vendor == "postgresql" else _sqlite(cursor)


def differences(expected: Schema, found: Schema) -> list[Difference]:
    """What differs in `found`, in a fixed order."""
    return sorted(_differences(expected, found), key=lambda difference: difference[:4])


def _differences(expected: Schema, found: Schema) -> Iterator[Difference]:
    for part in ("sequences", "functions"):
        yield from _of_names(part, "", expected[part], found[part])
    yield from _of_names("extensions", "", dict.fromkeys(expected["extensions"]), dict.fromkeys(found["extensions"]))
    for table in expected["tables"].keys() | found["tables"].keys():
        if table not in found["tables"]:
            yield Difference(MISSING, "table", table, "")
        elif table not in expected["tables"]:
            yield Difference(UNEXPECTED, "table", table, "")
        else:
            before, after = expected["tables"][table], found["tables"][table]
            for part in PARTS:
                yield from _of_names(part, table, before[part], after[part])
            if before["storage"] != after["storage"]:
                yield Difference(CHANGED, "storage", table, "", before["storage"], after["storage"])


def _of_names(parts: str, table: str, expected: dict[str, Any], found: dict[str, Any]) -> Iterator[Difference]:
    part = "index" if parts == "indexes" else parts.removesuffix("s")
    for name in expected.keys() | found.keys():
        if name not in found:
            yield Difference(MISSING, part, table, name, expected[name], None)
        elif name not in expected:
            yield Difference(UNEXPECTED, part, table, name, None, found[name])
        elif isinstance(found[name], dict) and not found[name].get("valid", True):
            yield Difference(INVALID, part, table, name, expected[name], found[name])
        elif expected[name] != found[name]:
            yield Difference(CHANGED, part, table, name, expected[name], found[name])


def _shown(definition: Any) -> str:
    return str(definition.get("definition", definition) if isinstance(definition, dict) else definition)


def _table() -> dict[str, Any]:
    return {**{part: {} for part in PARTS}, "storage": []}


# --- PostgreSQL -----------------------------------------------------------------------------

# `pretty` leaves out the name of a schema that is in the search path.
_COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
       pg_get_expr(d.adbin, d.adrelid, true), a.attidentity, a.attgenerated, l.collname
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
LEFT JOIN pg_collation l ON l.oid = a.attcollation AND a.attcollation <> t.typcollation
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
  AND a.attnum > 0 AND NOT a.attisdropped
"""
_TABLES = """
SELECT c.relname, coalesce(c.reloptions, '{}'::text[]) FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""
# While it is built concurrently, an index is neither valid nor ready.
_INDEXES = """
SELECT c.relname, i.relname, pg_get_indexdef(x.indexrelid, 0, true), x.indisvalid AND x.indisready
FROM pg_index x
JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_class i ON i.oid = x.indexrelid
WHERE c.relnamespace = current_schema()::regnamespace
  AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = x.indexrelid AND contype IN ('p', 'u', 'x'))
"""
# Newer servers also name NOT NULL ('n'), which belongs to the column here.
_CONSTRAINTS = """
SELECT c.relname, o.conname, pg_get_constraintdef(o.oid, true), o.convalidated
FROM pg_constraint o
JOIN pg_class c ON c.oid = o.conrelid
WHERE c.relnamespace = current_schema()::regnamespace AND o.contype NOT IN ('n', 't')
"""
_TRIGGERS = """
SELECT c.relname, t.tgname, pg_get_triggerdef(t.oid, true)
FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal
"""
_SEQUENCES = """
SELECT c.relname, format_type(s.seqtypid, NULL), s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcycle,
       o.relname || '.' || a.attname
FROM pg_sequence s
JOIN pg_class c ON c.oid = s.seqrelid
LEFT JOIN pg_depend d ON d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
  AND d.refclassid = 'pg_class'::regclass
LEFT JOIN pg_class o ON o.oid = d.refobjid
LEFT JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
WHERE c.relnamespace = current_schema()::regnamespace
"""
_OWN_FUNCTIONS = """
SELECT p.oid::regprocedure::text, pg_get_functiondef(p.oid)
FROM pg_proc p
WHERE p.pronamespace = current_schema()::regnamespace AND p.prokind IN ('f', 'p')
  AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
"""
_EXTENSIONS = "SELECT extname FROM pg_extension ORDER BY extname"


def _postgresql(cursor: Any) -> Schema:
    def read(statement: str) -> list[tuple[Any, ...]]:
        cursor.execute(statement)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found

    tables = {table: _table() | {"storage": sorted(options)} for table, options in read(_TABLES)}
    for table, column, kind, nullable, default, identity, generated, collation in read(_COLUMNS):
        details = [
            *({"a": ["always"], "d": ["identity"]}.get(identity, [])),
            *(["generated"] if generated else []),
            *([f"collate {collation}"] if collation else []),
        ]
        if table in tables:
            tables[table]["columns"][column] = _column(kind, nullable, default, " ".join(details))
    for part, statement in (("indexes", _INDEXES), ("constraints", _CONSTRAINTS)):
        for table, name, definition, valid in read(statement):
            if table in tables:
                tables[table][part][name] = {"definition": _plain(definition), "valid": valid}
    for table, name, definition in read(_TRIGGERS):
        if table in tables:
            tables[table]["triggers"][name] = _plain(definition)
    return {
        "tables": tables,
        "sequences": {name: " ".join(map(str, numbers)) for name, *numbers in read(_SEQUENCES)},
        "functions": dict(read(_OWN_FUNCTIONS)),
        "extensions": [name for (name,) in read(_EXTENSIONS)],
    }


def _column(kind: str, nullable: bool, default: str | None, details: str) -> dict[str, Any]:
    return {"type": kind, "nullable": nullable, "default": default, "details": details}


# --- SQLite ---------------------------------------------------------------------------------


def _sqlite(cursor: Any) -> Schema:
    cursor.execute("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    rows = cursor.fetchall()
    schema: Schema = {"tables": {}, "sequences": {}, "functions": {}, "extensions": []}
    for kind, name, _table_name, sql in rows:
        if kind == "table":
            schema["tables"][name] = _sqlite_table(cursor, name, sql)
    for kind, name, table, sql in rows:
        if kind == "index":
            schema["tables"][table]["indexes"][name] = {"definition": _plain(sql), "valid": True}
        elif kind == "trigger":
            schema["tables"][table]["triggers"][name] = _plain(sql)
    return schema


def _sqlite_table(cursor: Any, name: str, sql: str) -> dict[str, Any]:
    """A table whose columns are SQLite's own description, and the rest is read from its text: SQLite describes neither
    checks nor deferred references."""
    table = _table()
    cursor.execute(f"SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_xinfo('{name}')")
    described = {column: rest for column, *rest in cursor.fetchall()}
    start = sql.index("(")
    for text in _parts(_plain(sql[start + 1 : sql.rindex(")")])):
        first, _, rest = text.partition(" ")
        if first in described:
            kind, not_null, default, key = described[first]
            details = _IN_COLUMN.sub("", rest[len(_plain(kind)) :]).strip()
            # SQLite lets an older form of primary key be NULL; Django never writes one.
            table["columns"][first] = _column(kind, not (not_null or key), default, details)
        elif first.upper() == "CONSTRAINT":
            constraint, _, definition = rest.partition(" ")
            table["constraints"][constraint] = {"definition": definition, "valid": True}
        else:
            table["constraints"][text] = {"definition": text, "valid": True}
    table["storage"] = [text for text in [_plain(sql[sql.rindex(")") + 1 :])] if text]
    return table


# What a column's own description says.
_IN_COLUMN = re.compile(r"^\s*(NOT )?NULL\b")

# A text in quotes, a name in quotes, white space.
_TOKENS = re.compile(r"""('(?:[^']|'')*')|"([a-z_][a-z0-9_]*)"|\s*([(),])\s*|(\s+)""")


def _plain(sql: str) -> str:
    """The statement with single spaces, and without quotes around names that need none."""

    def shorter(match: re.Match[str]) -> str:
        text, name, mark, space = match.groups()
        if mark:
            return {"(": " (", ")": ") ", ",": ", "}[mark]
        return " " if space else text or name

    return re.sub(r" +(?=[ ),])|(?<=\() +", "", _TOKENS.sub(shorter, sql)).strip()


def _parts(text: str) -> Iterator[str]:
    """Splits at the commas that stand in no brackets and no text."""
    depth, start, quoted = 0, 0, False
    for position, letter in enumerate(text):
        if letter == "'":
            quoted = not quoted
        elif not quoted:
            depth += {"(": 1, ")": -1}.get(letter, 0)
            if letter == "," and depth == 0:
                yield text[start:position].strip()
                start = position + 1
    yield text[start:].strip()
