#!/usr/bin/env python3
"""Writes bourse/models.py, bourse/errors.py and bourse/_operations.py from the contracts as they are served.

    generate.py FOLDER_OF_CONTRACTS FOLDER_OF_THE_PACKAGE

Schemas become TypedDicts, so that an answer is the dict it came as, and a field that a newer service adds
harms nobody. Each operation becomes a method. src/sdk/build runs this; what it writes is not committed,
for it would only be a second copy of the contracts that can be out of date.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

#: What the libraries share: their contracts, writes that may be sent again, what each refusal means.
LIBRARIES = json.loads(Path(__file__).with_name("libraries.json").read_text())
CONTRACTS: list[str] = LIBRARIES["contracts"]

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
#: What types are made of that the models do not define.
PYTHON = {"Any", "Dict", "List", "Literal", "Optional", "Union", "None"}
METHODS = ("get", "put", "post", "delete", "patch")
#: The schemes by which programs come; the others are cookies of browsers.
TOKENS = {"apiToken", "memberToken"}

#: How bourse/errors.py begins.
ERRORS = '''"""Everything this library raises. Each error says what happened and, in `what_to_do`, what helps.

    BourseError
     ├─ ApiError               the service refused; a class for each code of the contracts
     │   └─ VersionMismatch, BidTooLow, NoSshKeys, RateLimited, …
     ├─ ServerUnreachable      no connection came about: nothing was sent
     ├─ AnswerLost             a write was sent and its answer never came
     ├─ UnexpectedAnswer       something that is not this service answered
     ├─ OperationMissing       the service is older than this library
     └─ of this library's own work: DeclarationUnclear, NotGranted, HoldLost, NotGivenBack, ClusterInUse,
        DigestMismatch, FileChanged
"""

from __future__ import annotations

from typing import Dict, Type

from bourse._errors import (
    AnswerLost as AnswerLost,
    ApiError as ApiError,
    BourseError as BourseError,
    ClusterInUse as ClusterInUse,
    DeclarationUnclear as DeclarationUnclear,
    DigestMismatch as DigestMismatch,
    FileChanged as FileChanged,
    HoldLost as HoldLost,
    NotGivenBack as NotGivenBack,
    NotGranted as NotGranted,
    OperationMissing as OperationMissing,
    ServerUnreachable as ServerUnreachable,
    UnexpectedAnswer as UnexpectedAnswer,
    may_pass as may_pass,
    nothing_happened as nothing_happened,
)'''


def snake(name: str) -> str:
    """operationId to the name of a method."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def argument(name: str) -> str:
    """The name of a parameter as Python can have it."""
    name = snake(name).replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


class Contract:
    """One contract, with its references looked up."""

    def __init__(self, name: str, document: dict[str, Any]) -> None:
        self.name = name
        self.document = document

    def resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            target: Any = self.document
            for step in node["$ref"][2:].split("/"):
                target = target[step]
            node = target
        return node

    def type_of(self, schema: dict[str, Any]) -> str:
        """The Python type of a schema, as text."""
        if "$ref" in schema:
            steps = schema["$ref"].split("/")
            return str(steps[-1]) if len(steps) == 4 else self.type_of(self.resolve(schema))
        if "oneOf" in schema:
            return union([self.type_of(one) for one in schema["oneOf"]])
        if "enum" in schema or "const" in schema:
            values = schema.get("enum", [schema.get("const")])
            return "Literal[" + ", ".join(repr(value) for value in values) + "]"
        kinds = schema.get("type", "object")
        return union([self.type_of_kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)])

    def type_of_kind(self, kind: str, schema: dict[str, Any]) -> str:
        if kind == "array":
            return f"List[{self.type_of(schema['items'])}]"
        if kind == "object":
            values = schema.get("additionalProperties")
            return f"Dict[str, {self.type_of(values) if isinstance(values, dict) else 'Any'}]"
        return SCALARS[kind]

    def security(self, operation: dict[str, Any]) -> list[dict[str, Any]]:
        """Whom an operation takes; nobody in particular when it is empty."""
        listed: list[dict[str, Any]] = operation.get("security", self.document.get("security", []))
        return listed

    def serves_programs(self, method: str, operation: dict[str, Any]) -> bool:
        """Pages (`x-errors: page`) and the preflights of browsers (OPTIONS) are for browsers alone.

        So is, of some contracts, whatever takes no token.
        """
        takes_token = any(TOKENS & one.keys() for one in self.security(operation))
        return (
            method in METHODS
            and operation.get("x-errors") != "page"
            and (takes_token or self.name not in LIBRARIES["only_with_token"])
        )

    def operations(self, programs: bool = True) -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
        """Method, path, operation and what its path says of it: those for programs, or the others."""
        return [
            (method, path, operation, item)
            for path, item in self.document["paths"].items()
            for method, operation in item.items()
            if isinstance(operation, dict) and "operationId" in operation
            and self.serves_programs(method, operation) == programs
        ]

    def schemas(self) -> dict[str, dict[str, Any]]:
        """Its schemas but those that only browsers come across, such as the forms of pages."""
        schemas: dict[str, dict[str, Any]] = self.document["components"]["schemas"]

        def named(reached: set[str]) -> set[str]:
            return {name for name in schemas if f"#/components/schemas/{name}" in reached}

        left = named(self.reached([one for _, _, one, _ in self.operations(programs=False)], set()))
        # What no operation refers to is of events, which a contract cannot give a schema.
        kept = [one for _, _, one, _ in self.operations()], self.document.get("webhooks")
        others = [schema for name, schema in schemas.items() if name not in left]
        left -= named(self.reached([kept, others], set()))
        return {name: schema for name, schema in schemas.items() if name not in left}

    def reached(self, node: Any, found: set[str]) -> set[str]:
        """Adds what is referred to, directly or by something else."""
        if isinstance(node, (list, tuple)):
            for one in node:
                self.reached(one, found)
        elif isinstance(node, dict):
            if "$ref" in node and node["$ref"] not in found:
                found.add(node["$ref"])
                self.reached(self.resolve(node), found)
            self.reached(list(node.values()), found)
        return found


def union(types: list[str]) -> str:
    distinct = list(dict.fromkeys(types))
    optional = "None" in distinct
    some = [one for one in distinct if one != "None"]
    if not some:
        return "None"
    joined = some[0] if len(some) == 1 else f"Union[{', '.join(some)}]"
    return f"Optional[{joined}]" if optional else joined


def prose(text: str, indent: str) -> str:
    """A description as it stands in a docstring or a comment."""
    paragraphs = [" ".join(part.split()) for part in text.strip().split("\n\n")]
    width = 108 - len(indent)
    return ("\n\n" + indent).join(
        ("\n" + indent).join(textwrap.wrap(part, width, break_long_words=False)) for part in paragraphs
    ).replace("\\", "\\\\")


def fields(contract: Contract, schema: dict[str, Any], wanted: bool) -> list[str]:
    lines = []
    required = schema.get("required", [])
    for name, field in schema["properties"].items():
        if (name in required) != wanted:
            continue
        if "description" in field:
            lines += ["    #: " + line for line in textwrap.wrap(" ".join(field["description"].split()), 100)]
        lines.append(f"    {name}: {contract.type_of(field)}")
    return lines


def model(contract: Contract, name: str, schema: dict[str, Any]) -> list[str]:
    """A class, or a name for a type that is none."""
    if "properties" not in schema:
        return [f"{name} = {contract.type_of(schema)}", ""]
    if any(keyword.iskeyword(field) for field in schema["properties"]):
        return spelled(contract, name, schema)
    told = f'    """{prose(schema.get("description", f"`{name}` of the contract."), "    ")}"""'
    always, perhaps = fields(contract, schema, True), fields(contract, schema, False)
    if not perhaps:
        return [f"class {name}(TypedDict):", told, "", *always, "", ""]
    if not always:
        return [f"class {name}(TypedDict, total=False):", told, "", *perhaps, "", ""]
    # NotRequired came with Python 3.11.
    return [
        f"class _{name}(TypedDict):", *always, "", "",
        f"class {name}(_{name}, total=False):", told, "", *perhaps, "", "",
    ]


def spelled(contract: Contract, name: str, schema: dict[str, Any]) -> list[str]:
    """A TypedDict one of whose fields has a name that Python keeps for itself."""
    if set(schema["properties"]) != set(schema.get("required", [])):
        raise SystemExit(f"{contract.name}: {name} has a field named as a keyword and fields that may be absent")
    pairs = [f"    {json.dumps(field)}: {contract.type_of(one)!r}," for field, one in schema["properties"].items()]
    return [f'{name} = TypedDict("{name}", {{', *pairs, "})", ""]


def names_in(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z]\w*", text))


def in_order(models: dict[str, list[str]]) -> list[str]:
    """Aliases name types that must have been defined before; so must the base of a class."""
    aliases = {name for name, lines in models.items() if "class " not in lines[0] and "TypedDict(" not in lines[0]}
    done: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        for other in names_in(models[name][0].partition("=")[2]) & models.keys():
            visit(other)
        done.append(name)

    for name in models:
        if name not in aliases:
            done.append(name)
    for name in aliases:
        visit(name)
    # Annotations of classes are text until somebody asks for them, aliases are not.
    return done


def write_models(contracts: list[Contract]) -> str:
    models: dict[str, list[str]] = {}
    for contract in contracts:
        for name, schema in contract.schemas().items():
            lines = model(contract, name, schema)
            if models.setdefault(name, lines) != lines:
                raise SystemExit(f"{contract.name}: {name} is another one in an earlier contract")
    order = in_order(models)
    return "\n".join(
        [
            '"""What the service takes and answers. Generated from the contracts."""',
            "",
            "from __future__ import annotations",
            "",
            "from typing import Any, Dict, List, Literal, Optional, TypedDict, Union",
            "",
            f"__all__ = {json.dumps(sorted(order), indent=4)}",
            "",
            "",
            *[line for name in order for line in models[name]],
        ]
    ).rstrip() + "\n"


def answer_of(contract: Contract, operation: dict[str, Any]) -> tuple[str, str]:
    """How an answer is read (json, stream, none), and its type."""
    types: list[str] = []
    kind = "none"
    for status, response in operation["responses"].items():
        # 206 comes to who asked for a range, 304 to who named an ETag; only the hand-made part does.
        if not status.startswith("2") or status == "206":
            continue
        content = contract.resolve(response).get("content", {})
        if "application/json" in content:
            kind = "json"
            types.append("models." + contract.type_of(content["application/json"]["schema"]))
        elif content:
            kind = "stream"
            types.append("Stream")
        else:
            types.append("None")
    # 308 says that bytes of an upload are missing.
    if "308" in operation["responses"]:
        types.append("None")
    return kind, union(types)


def body_of(contract: Contract, operation: dict[str, Any]) -> tuple[str, str]:
    content = operation.get("requestBody", {}).get("content", {})
    for media, kind in (("application/json", "json"), ("application/x-www-form-urlencoded", "form")):
        if media in content:
            return kind, "models." + contract.type_of(content[media]["schema"])
    return ("bytes", "Union[bytes, BinaryIO]") if content else ("", "")


def scope_of(contract: Contract, operation: dict[str, Any]) -> str:
    security = contract.security(operation)
    scopes = sorted({scope for one in security for listed in one.values() for scope in listed})
    if not security:
        return "Takes no token."
    whose = "" if any("apiToken" in one for one in security) else ", in a member's token"
    return f"Scope: {', '.join(scopes)}{whose}." if scopes else "Takes any live token."


def method_of(contract: Contract, method: str, path: str, operation: dict[str, Any], item: dict[str, Any]) -> list[str]:
    parameters = [contract.resolve(one) for one in item.get("parameters", []) + operation.get("parameters", [])]
    in_path = [one for one in parameters if one["in"] == "path"]
    others = [one for one in parameters if one["in"] != "path"]
    body, body_type = body_of(contract, operation)
    _, answer_type = answer_of(contract, operation)

    def typed(one: dict[str, Any]) -> str:
        text = contract.type_of(one["schema"])
        return re.sub(r"\b[A-Z]\w+", lambda name: name[0] if name[0] in PYTHON else "models." + name[0], text)

    arguments = ["self"] + [f"{argument(one['name'])}: {typed(one)}" for one in in_path]
    if body:
        needed = operation["requestBody"].get("required", False)
        arguments.append(f"body: {body_type}" if needed else f"body: Optional[{body_type}] = None")
    if others or body == "bytes":
        arguments.append("*")
    for one in others:
        arguments.append(
            f"{argument(one['name'])}: {typed(one)}" if one.get("required")
            else f"{argument(one['name'])}: Optional[{typed(one)}] = None"
        )
    if body == "bytes":
        arguments.append('content_type: str = "application/octet-stream"')
    told = f"{operation['summary']}.\n\n        {prose(operation.get('description', ''), '        ')}"
    given = [f'OPERATIONS["{operation["operationId"]}"]']
    for place, group in (("path", in_path), *((place, [one for one in others if one["in"] == place])
                                               for place in ("query", "header"))):
        if group:
            pairs = ", ".join(f'"{one["name"]}": {argument(one["name"])}' for one in group)
            given.append(f"{place}={{{pairs}}}")
    if body:
        given.append("body=body")
    if body == "bytes":
        given.append("content_type=content_type")
    call = f"self._call({', '.join(given)})"
    return [
        f"    def {snake(operation['operationId'])}({', '.join(arguments)}) -> {answer_type}:",
        f'        """{told.rstrip()}',
        "",
        f"        `{method.upper()} {path}`. {scope_of(contract, operation)}",
        '        """',
        f"        {call}" if answer_type == "None" else f"        return cast({answer_type!r}, {call})",
        "",
    ]


def write_operations(contracts: list[Contract]) -> str:
    table, methods = [], []
    for contract in contracts:
        for method, path, operation, item in contract.operations():
            answer, _ = answer_of(contract, operation)
            body, _ = body_of(contract, operation)
            repeatable = method == "get" or operation["operationId"] in LIBRARIES["repeatable"]
            table.append(
                f'        Operation("{operation["operationId"]}", "{contract.name}", "{method.upper()}", "{path}", '
                f'"{answer}", "{body}", {bool(contract.security(operation))}, {repeatable}),'
            )
            methods += method_of(contract, method, path, operation, item)
    return "\n".join(
        [
            '"""A method for each operation. Generated from the contracts."""',
            "",
            "from __future__ import annotations",
            "",
            "from typing import Any, BinaryIO, Dict, List, Literal, Mapping, Optional, Union, cast",
            "",
            "from bourse import models",
            "from bourse._http import Operation, Stream",
            "",
            "#: Every operation by its operationId.",
            "OPERATIONS: Dict[str, Operation] = {",
            "    one.id: one",
            "    for one in (",
            *table,
            "    )",
            "}",
            "",
            "",
            "class Operations:",
            '    """The operations as the contracts have them. Client adds what takes more than one request."""',
            "",
            "    def _call(",
            "        self,",
            "        operation: Operation,",
            "        *,",
            "        path: Optional[Mapping[str, object]] = None,",
            "        query: Optional[Mapping[str, object]] = None,",
            "        header: Optional[Mapping[str, object]] = None,",
            "        body: object = None,",
            "        content_type: Optional[str] = None,",
            "    ) -> Any:",
            "        raise NotImplementedError",
            "",
            *methods,
        ]
    ).rstrip() + "\n"


def write_errors() -> str:
    """A class for each code, named like it."""
    lines = ERRORS.splitlines()
    for code, told in LIBRARIES["refusals"].items():
        name = "".join(word.capitalize() for word in code.split("-"))
        lines += [
            "",
            "",
            f"class {name}(ApiError):",
            f'    """{prose(told["meaning"], "    ")}"""',
            "",
            f'    code = "{code}"',
            *(["    passes = True"] if told.get("passes") else []),
            f"    what_to_do = {json.dumps(told['what_to_do'])}",
        ]
    return "\n".join(
        [*lines, "", "", "#: The class of each code.",
         "BY_CODE: Dict[str, Type[ApiError]] = {one.code: one for one in ApiError.__subclasses__()}", ""]
    )


def main() -> None:
    source, package = Path(sys.argv[1]), Path(sys.argv[2])
    contracts = [Contract(name, json.loads((source / f"{name}.json").read_text())) for name in CONTRACTS]
    (package / "models.py").write_text(write_models(contracts))
    (package / "errors.py").write_text(write_errors())
    (package / "_operations.py").write_text(write_operations(contracts))


if __name__ == "__main__":
    main()
