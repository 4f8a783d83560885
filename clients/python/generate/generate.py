"""The modules of the package that follow from openapi/v1.json."""

from __future__ import annotations

import copy
import keyword
import re
from dataclasses import dataclass
from typing import Any

from .schemas import Schema, Types, docstring, listed, pascal, snake
from .surface import SURFACE

Document = dict[str, Any]

HEADER = '"""Generated from openapi/v1.json by `python3 -m generate`. Do not edit."""\n\nfrom __future__ import annotations\n\n'
VERSIONED = """if sys.version_info >= (3, 11):
    from typing import {name}
else:
    from typing_extensions import {name}
"""
OPTIONS = ["timeout: float | None = None", "max_retries: int | None = None"]
KEY = "idempotency_key: IdempotencyKey = None"


@dataclass(frozen=True)
class Operation:
    id: str
    method: str
    path: str
    summary: str
    query: str | None
    body: str | None
    body_required: bool
    data: str
    quote: str | None
    paged: bool
    starts: bool
    """Whether it starts an action of the VM in its path."""

    @property
    def name(self) -> str:
        return snake(self.id)

    @property
    def arguments(self) -> list[str]:
        """An `id` is named after what it is of."""
        found = re.findall(r"([\w-]+)/\{(\w+)\}", self.path)
        return [f"{singular(owner)}_id" if name == "id" else snake(name) for owner, name in found]


def singular(segment: str) -> str:
    return re.sub("(?<=ss)es$|s$", "", segment).replace("-", "_")


def modules(document: Document) -> dict[str, str]:
    """By their names. Raises ValueError where surface.py and the document disagree."""
    types = Types(schemas_of(document))
    operations = {
        spec["operationId"]: operation_of(types, method.upper(), path, spec)
        for path, methods in document["paths"].items()
        for method, spec in methods.items()
    }
    called = [id for methods in SURFACE.values() for id in methods.values()]
    if sorted(called) != sorted(operations):
        missing, unknown = set(operations) - set(called), set(called) - set(operations)
        raise ValueError(f"surface.py: operations without a method: {missing or 'none'}; unknown or twice: {unknown or 'some'}")
    codes = document["components"]["headers"]["X-Error-Code"]["schema"]["enum"]
    return {
        "types": types_module(types),
        "_operations": operations_module(operations, document["servers"][0]["url"]),
        "_async_resources": resources_module(operations),
        "_api_errors": errors_module(codes),
    }


def schemas_of(document: Document) -> dict[str, Schema]:
    """Without the body of errors, which becomes an exception; with the types that the document has in other places."""
    components = document["components"]
    schemas: dict[str, Schema] = {name: schema for name, schema in components["schemas"].items() if name != "Error"}
    schemas["ErrorCode"] = components["headers"]["X-Error-Code"]["schema"]
    schemas["EventType"] = {"enum": [name for name in document["webhooks"] if name != "webhook.test"]}
    test = document["webhooks"]["webhook.test"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    schemas["WebhookTestEvent"] = test
    members = [each["$ref"].rsplit("/", 1)[1] for each in schemas["Event"]["oneOf"]]
    for name in members:
        schemas[webhook_name(name)] = without_cursor(schemas[name])
    schemas["WebhookEvent"] = {"oneOf": [{"$ref": f"/{name}"} for name in [*map(webhook_name, members), "WebhookTestEvent"]]}
    return schemas


def webhook_name(event: str) -> str:
    return re.sub("Event$", "WebhookEvent", event)


def without_cursor(event: Schema) -> Schema:
    trimmed = copy.deepcopy(event)
    del trimmed["properties"]["cursor"]
    return trimmed


def operation_of(types: Types, method: str, path: str, spec: dict[str, Any]) -> Operation:
    own = pascal(spec["operationId"])
    query = {each["name"]: each for each in spec.get("parameters", []) if each.get("in") == "query"}
    dry_run = query.pop("dryRun", None)
    body = spec.get("requestBody", {})
    body_schema = body.get("content", {}).get("application/json", {}).get("schema")
    answers = [answer_of(response) for status, response in sorted(spec["responses"].items()) if status.startswith("2")]
    options = [option for answer in answers for option in answer["properties"]["data"].get("anyOf", [answer["properties"]["data"]])]
    kinds = list(dict.fromkeys(types.expression(option, f"{own}Data") for option in options))
    quotes = [kind for kind in kinds if kind.endswith("Quote")]
    data = next(kind for kind in kinds if kind not in quotes)
    starts = path.startswith("/vms/{") or data == "VmCreated"
    starts = starts and data in ("ActionStarted", "SnapshotCreated", "BackupCreated", "VmCreated")
    return Operation(
        id=spec["operationId"],
        method=method,
        path=path,
        summary=spec["summary"],
        query=types.define(f"{own}Query", query_schema(query)) if query else None,
        body=body_type(types, body_schema, own),
        body_required=body.get("required", False),
        data=types.extend(f"{data}WithVmId", data, "vmId: str") if starts else data,
        quote=quotes[0] if dry_run else None,
        paged="pagination" in answers[0]["properties"],
        starts=starts,
    )


def answer_of(response: dict[str, Any]) -> Schema:
    schema: Schema = response["content"]["application/json"]["schema"]
    return schema


def query_schema(parameters: dict[str, Any]) -> Schema:
    """A name that Python reserves gets a `_`, which the client takes away."""
    safe = {f"{name}_" if keyword.iskeyword(name) else name: each for name, each in parameters.items()}
    properties = {name: {**each["schema"], "description": each.get("description")} for name, each in safe.items()}
    return {"properties": properties, "required": [name for name, each in safe.items() if each.get("required")]}


def body_type(types: Types, schema: Schema | None, own: str) -> str | None:
    return types.expression(schema, f"{own}Body") if schema else None


def types_module(types: Types) -> str:
    imports = f"import sys\nfrom typing import Literal, TypeAlias, TypedDict, get_args\n\n{VERSIONED.format(name='NotRequired')}\n\n"
    last = '\n\nEVENT_TYPES: tuple[EventType, ...] = get_args(EventType)\n"""What a webhook can subscribe to and `events` lists."""\n'
    return HEADER + imports + types.text() + last


def operations_module(operations: dict[str, Operation], prefix: str) -> str:
    lines = [f'from . import types\nfrom ._operation import Operation\n\nPREFIX = "{prefix}"\n\n']
    for each in operations.values():
        route = [f'"{each.id}"', f'"{each.method}"', f'"{each.path}"']
        starts = ["starts_action=True"] if each.starts else []
        lines.append(listed(f"{each.name} = Operation[{module_types(each.data)}](", [*route, *starts], ")"))
        if each.quote:
            lines.append(listed(f"quote_{each.name} = Operation[types.{each.quote}](", [*route, "dry_run=True"], ")"))
    return HEADER + "".join(lines)


def module_types(expression: str) -> str:
    """As it is written outside of types.py."""
    return re.sub(r"\b([A-Z]\w+)\b", r"types.\1", expression)


def resources_module(operations: dict[str, Operation]) -> str:
    imports = [
        "import builtins",
        "import sys\n",
        "from . import _operations as operations",
        "from . import types",
        "from ._async import AsyncConnection, AsyncEventResource, AsyncPages, AsyncResource",
        "from ._operation import IdempotencyKey\n",
    ]
    classes = []
    for resource, methods in SURFACE.items():
        if resource:
            base = "AsyncEventResource" if resource == "events" else "AsyncResource"
            written = [text for name, id in methods.items() for text in methods_of(name, operations[id])]
            classes.append(f"class Async{pascal(resource)}({base}):\n" + "\n".join(written))
    made = "".join(f"        self.{resource} = Async{pascal(resource)}(connection)\n" for resource in SURFACE if resource)
    constructor = f"    def __init__(self, connection: AsyncConnection) -> None:\n        super().__init__(connection)\n{made}"
    own = [text for name, id in SURFACE[""].items() for text in methods_of(name, operations[id])]
    classes.append("class AsyncResources(AsyncResource):\n" + "\n".join([constructor, *own]))
    return HEADER + "\n".join(imports) + "\n" + VERSIONED.format(name="Unpack") + "\n\n" + "\n\n".join(classes)


def methods_of(name: str, operation: Operation) -> list[str]:
    if operation.paged:
        item = re.sub(r"^list\[(.*)\]$", r"\1", module_types(operation.data))
        return [method(name, operation, f"operations.{operation.name}", f"AsyncPages[{item}]", "def", "return self._pages")]
    returns = module_types(operation.data).replace("list[", "builtins.list[")  # list is a method of most resources
    call = ("async def", "return await self._call")
    written = [method(name, operation, f"operations.{operation.name}", returns, *call)]
    if operation.quote:
        quote = f"operations.quote_{operation.name}"
        written.append(method(f"quote_{name}", operation, quote, f"types.{operation.quote}", *call))
    return written


def method(name: str, operation: Operation, constant: str, returns: str, define: str, call: str) -> str:
    writes = operation.method != "GET"
    options = [*OPTIONS, KEY] if writes else OPTIONS
    fields = {"query": operation.query, "body": operation.body}
    extra = [f"**{kind}: Unpack[{module_types(fields_type)}]" for kind, fields_type in fields.items() if fields_type]
    taken = ["self", *[f"{argument}: str" for argument in operation.arguments], "*", *options, *extra]
    values = ", ".join(operation.arguments) + ("," if len(operation.arguments) == 1 else "")
    passed = [constant, f"({values})", "timeout=timeout", "max_retries=max_retries"]
    if writes:
        passed.append("idempotency_key=idempotency_key")
    if operation.query:
        passed.append("query=query")
    if operation.body:
        passed.append("body=body" if operation.body_required else "body=body or None")
    summary = f"What it would cost. {operation.summary}." if name.startswith("quote_") else f"{operation.summary}."
    signature = listed(f"    {define} {name}(", taken, f") -> {returns}:")
    return signature + docstring(summary, "        ") + listed(f"        {call}(", passed, ")")


def errors_module(codes: list[str]) -> str:
    names = {code: re.sub("Error$", "", pascal(code)) + "Error" for code in codes}
    classes = [f'class {name}(ApiError):\n    """`{code}`"""\n' for code, name in names.items()]
    by_code = "".join(f'    "{code}": {name},\n' for code, name in names.items())
    exported = "".join(f'    "{name}",\n' for name in names.values())
    mapping = f"BY_CODE: dict[str, type[ApiError]] = {{\n{by_code}}}\n"
    return HEADER + "from .errors import ApiError\n\n\n" + "\n\n".join(classes) + f"\n\n{mapping}\n__all__ = [\n{exported}]\n"
