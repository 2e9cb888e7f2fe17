"""The library against the contracts: nothing is missing, and nothing is there that they do not have."""

from __future__ import annotations

import inspect
import json
import os
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator, Tuple

import generate
from bourse import Client, errors
from bourse._operations import OPERATIONS

CONTRACTS = Path(os.environ["SDK_CONTRACTS"])

def contract(name: str) -> Dict[str, Any]:
    document: Dict[str, Any] = json.loads((CONTRACTS / f"{name}.json").read_text())
    return document


def operations(document: Dict[str, Any]) -> Iterator[Tuple[str, Dict[str, Any]]]:
    for item in document["paths"].values():
        for method, one in item.items():
            if isinstance(one, dict) and "operationId" in one:
                yield method, one


class ContractsTest(unittest.TestCase):
    def test_every_contract_is_covered_or_left_out_with_a_reason(self) -> None:
        served = {file.stem for file in CONTRACTS.glob("*.json")}
        self.assertEqual(served, {*generate.CONTRACTS, *generate.LIBRARIES["left_out"]})

    def test_every_operation_is_a_method(self) -> None:
        # Counted from the contracts without the generator: what is no page and no preflight of a browser.
        expected = {
            one["operationId"]
            for name in generate.CONTRACTS
            for method, one in operations(contract(name))
            if method != "options" and one.get("x-errors") != "page"
        }
        self.assertEqual(expected, set(OPERATIONS))
        for name in expected:
            self.assertTrue(callable(getattr(Client, generate.snake(name), None)), name)

    def test_pages_that_are_left_out_are_those_of_browsers(self) -> None:
        pages = {
            one["operationId"]
            for name in generate.CONTRACTS
            for method, one in operations(contract(name))
            if method != "options" and one["operationId"] not in OPERATIONS
        }
        self.assertEqual(pages, {"showConsent", "decideConsent", "showDevice", "decideDevice"})

    def test_what_may_be_sent_again_is_an_operation(self) -> None:
        self.assertEqual(set(), set(generate.LIBRARIES["repeatable"]) - set(OPERATIONS))

    def test_every_error_code_has_a_class_that_says_what_to_do(self) -> None:
        codes = contract("vm")["components"]["schemas"]["ErrorCode"]["enum"]
        self.assertEqual(set(codes), set(errors.BY_CODE))
        for code, kind in errors.BY_CODE.items():
            self.assertNotEqual(errors.ApiError.what_to_do, kind.what_to_do, code)
            self.assertTrue(kind.__doc__, code)

    def test_every_list_of_pages_has_an_iterator(self) -> None:
        paged = set()
        for name in generate.CONTRACTS:
            document = contract(name)
            schemas = document["components"]["schemas"]
            for _, one in operations(document):
                content = one["responses"].get("200", {}).get("content", {}).get("application/json", {})
                schema = schemas.get(content.get("schema", {}).get("$ref", "").rpartition("/")[2], {})
                if "more" in schema.get("properties", {}):
                    paged.add(one["operationId"])
        source = inspect.getsource(Client)
        for operation in paged:
            self.assertIn(f"self.{generate.snake(operation)}(", source, f"no iterator over the pages of {operation}")
        self.assertEqual(8, len(paged), paged)


if __name__ == "__main__":
    unittest.main()
