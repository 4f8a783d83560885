"""Schemas of the OpenAPI document as TypedDicts."""

from __future__ import annotations

import json
import keyword
import re
import textwrap
from typing import Any

Schema = dict[str, Any]

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
WIDTH = 140


def pascal(name: str) -> str:
    return "".join(word[0].upper() + word[1:] for word in re.findall(r"[A-Za-z0-9]+", name))


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def docstring(text: str | None, indent: str = "    ") -> str:
    if not text:
        return ""
    # A quotation mark at the end would end the docstring.
    sentence = re.sub(r'"$', '".', text.strip().replace("\\", "\\\\"))
    lines = textwrap.wrap(f'"""{sentence}"""', WIDTH - len(indent), break_long_words=False, break_on_hyphens=False)
    return "".join(f"{indent}{line}\n" for line in lines)


def listed(opening: str, items: list[str], closing: str) -> str:
    """On one line where there is room, otherwise an item to a line."""
    line = opening + ", ".join(items) + closing + "\n"
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(opening) - len(opening.lstrip()))
    return opening + "\n" + "".join(f"{indent}    {item},\n" for item in items) + f"{indent}{closing}\n"


def definition(opening: str, expression: str) -> str:
    if len(opening + expression) <= WIDTH:
        return f"{opening}{expression}\n"
    if found := re.fullmatch(r"(.*Literal\[)(.*?)(\].*)", expression):
        return listed(opening + found[1], found[2].split(", "), found[3])
    return f"{opening}(\n    " + "\n    | ".join(expression.split(" | ")) + "\n)\n"


def literal(values: list[object]) -> str:
    return f"Literal[{', '.join(json.dumps(value) if isinstance(value, str) else repr(value) for value in values)}]"


class Types:
    """Collects definitions; an object within an object becomes a TypedDict of its own, named after both."""

    def __init__(self, schemas: dict[str, Schema]) -> None:
        self._classes: dict[str, str] = {}
        self._aliases: dict[str, str] = {}
        self._enums = {tuple(schema["enum"]): name for name, schema in schemas.items() if "enum" in schema}
        for name, schema in schemas.items():
            self.define(name, schema)

    def define(self, name: str, schema: Schema) -> str:
        if name in self._classes or name in self._aliases:
            raise ValueError(f"two types would be called {name}")
        if "properties" in schema:
            self._classes[name] = ""  # before those within it
            self._classes[name] = self._typed_dict(name, schema)
        else:
            self._aliases[name] = definition(f"{name}: TypeAlias = ", self.expression(schema, name))
        return name

    def extend(self, name: str, base: str, fields: str) -> str:
        self._classes.setdefault(name, f"class {name}({base}):\n    {fields}\n")
        return name

    def expression(self, schema: Schema, name: str) -> str:
        """The type of a schema; `name` is for an object that has none."""
        if "$ref" in schema:
            return str(schema["$ref"]).rsplit("/", 1)[1]
        if "const" in schema:
            return literal([schema["const"]])
        if "enum" in schema:
            named = self._enums.get(tuple(schema["enum"]))
            return named if named and named != name else literal(schema["enum"])
        if options := schema.get("anyOf") or schema.get("oneOf"):
            return " | ".join(dict.fromkeys(self.expression(each, name) for each in options))
        kinds = schema["type"]
        return " | ".join(self._of_kind(kind, schema, name) for kind in ([kinds] if isinstance(kinds, str) else kinds))

    def _of_kind(self, kind: str, schema: Schema, name: str) -> str:
        if kind == "array":
            return f"list[{self.expression(schema['items'], name)}]"
        if kind != "object":
            return SCALARS[kind]
        if "properties" in schema:
            return self.define(name, schema)
        values = schema.get("additionalProperties")
        return f"dict[str, {self.expression(values, name) if isinstance(values, dict) else 'object'}]"

    def _typed_dict(self, name: str, schema: Schema) -> str:
        properties: dict[str, Schema] = schema["properties"]
        fields = {key: self._field(name, key, value, schema.get("required", [])) for key, value in properties.items()}
        if any(map(keyword.iskeyword, properties)):  # such a field cannot be written as an attribute
            entries = "".join(f'        "{key}": "{kind}",\n' for key, kind in fields.items())
            return f'{name} = TypedDict(\n    "{name}",\n    {{\n{entries}    }},\n)\n'
        lines = [definition(f"    {key}: ", kind) + docstring(properties[key].get("description")) for key, kind in fields.items()]
        body = "".join(lines) or "    pass\n"
        return f"class {name}(TypedDict):\n{docstring(schema.get('description'))}{body}"

    def _field(self, owner: str, key: str, schema: Schema, required: list[str]) -> str:
        kind = self.expression(schema, owner + pascal(key))
        return kind if key in required else f"NotRequired[{kind}]"

    def text(self) -> str:
        """Aliases come last: they are evaluated when the module is loaded."""
        return "\n\n".join([*self._classes.values(), *self._aliases.values()])
