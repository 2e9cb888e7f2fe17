"""Merges OpenAPI contracts into one document, so that one run of Schemathesis covers all of them.

merge.py CONTRACT.json... >MERGED.json

The tags of an operation become the security schemes that it takes, or `nobody`; `page` if it answers with pages; and
`tolerant` if it ignores parameters that are unknown or empty.
"""

import json
import re
import sys
from pathlib import Path

# Any request can be answered with these, as the contracts say at `ErrorCode`: the request line, the headers or the
# framing are refused before there is an operation.
WIRE_STATUSES = ["400", "405", "408", "414", "431"]
METHODS = ["get", "put", "post", "delete", "options", "patch"]


def unbounded(node):
    """Removes `format: int64` from a parameter. It names the type for clients and is no bound: `before` of a trail takes
    any positive integer. Schemathesis expects larger numbers to be refused."""
    if "in" in node and node.get("schema", {}).get("format") == "int64":
        del node["schema"]["format"]
    return node


def read(path):
    """Reads a contract. Its name becomes a prefix of its components, because contracts share names of components."""
    name = path.stem
    text = re.sub(r'"#/components/(?!securitySchemes)(\w+)/', rf'"#/components/\1/{name}.', path.read_text())
    contract = json.loads(text, object_hook=unbounded)
    for kind, components in contract["components"].items():
        if kind != "securitySchemes":
            contract["components"][kind] = {f"{name}.{key}": value for key, value in components.items()}
    refusal = {
        "description": "Refused before there is an operation.",
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}.ApiError"}}},
    }
    for item in contract["paths"].values():
        for method in METHODS:
            if method in item:
                complete(item[method], contract.get("security", []), refusal, contract)
    return contract


def lenient(schema, contract):
    """A copy of a request's schema in which fields that may be left out may be null, as the contracts say."""
    while "$ref" in schema:
        found = contract
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        schema = found
    schema = dict(schema)
    if "items" in schema:
        schema["items"] = lenient(schema["items"], contract)
    if "oneOf" in schema:
        schema["oneOf"] = [lenient(one, contract) for one in schema["oneOf"]]
    properties = {name: lenient(one, contract) for name, one in schema.get("properties", {}).items()}
    for name, one in properties.items():
        if name not in schema.get("required", []):
            properties[name] = {"anyOf": [one, {"type": "null"}]}
    return schema | ({"properties": properties} if properties else {})


def complete(operation, security, refusal, contract):
    media = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if "schema" in media:
        media["schema"] = lenient(media["schema"], contract)
    security = operation.setdefault("security", security)
    tags = {scheme for choice in security for scheme in choice} or {"nobody"}
    if operation.get("x-errors") == "page":
        tags.add("page")
    if operation.get("x-tolerant"):
        tags.add("tolerant")
    operation["tags"] = sorted(tags)
    for status in WIRE_STATUSES:
        operation["responses"].setdefault(status, refusal)


def merge(contracts):
    merged = {
        "openapi": "3.1.0",
        "info": {"title": "Bourse", "version": "1"},
        "servers": contracts[0]["servers"],
        "paths": {},
        "components": {},
    }
    for contract in contracts:
        for path, item in contract["paths"].items():
            if path in merged["paths"]:
                raise SystemExit(f"two contracts have the path {path}")
            merged["paths"][path] = item
        for kind, components in contract["components"].items():
            merged["components"].setdefault(kind, {}).update(components)
    return merged


json.dump(merge([read(Path(argument)) for argument in sys.argv[1:]]), sys.stdout)
