"""The library against the contracts: nothing is missing, and nothing is there that they do not have."""

from __future__ import annotations

import inspect
import json
import os
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator, Tuple

import generate
from bourse import Client, errors, models
from bourse._operations import OPERATIONS

CONTRACTS = Path(os.environ["SDK_CONTRACTS"])

def contract(name: str) -> Dict[str, Any]:
    document: Dict[str, Any] = json.loads((CONTRACTS / f"{name}.json").read_text())
    return document


def operations(document: Dict[str, Any]) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """Paths and operations, but for the preflights of browsers."""
    for path, item in document["paths"].items():
        for method, one in item.items():
            if method != "options" and isinstance(one, dict) and "operationId" in one:
                yield path, one


def all_operations() -> Iterator[Tuple[str, str, Dict[str, Any]]]:
    for name in generate.CONTRACTS:
        for path, one in operations(contract(name)):
            yield name, path, one


class ContractsTest(unittest.TestCase):
    def test_every_contract_is_covered_or_left_out_with_a_reason(self) -> None:
        served = {file.stem for file in CONTRACTS.glob("*.json")}
        self.assertEqual(served, {*generate.CONTRACTS, *generate.LIBRARIES["left_out"]})
        self.assertEqual({"node", "operator"}, set(generate.LIBRARIES["left_out"]))
        self.assertEqual({"console"}, set(generate.LIBRARIES["only_with_token"]))

    def test_every_operation_is_a_method(self) -> None:
        # Counted from the contracts without the generator: what is no page, and of the console what takes a
        # member's token.
        expected = {
            one["operationId"]
            for name, _, one in all_operations()
            if one.get("x-errors") != "page"
            and (name != "console" or any("memberToken" in scheme for scheme in one.get("security", [])))
        }
        self.assertEqual(expected, set(OPERATIONS))
        for name in expected:
            self.assertTrue(callable(getattr(Client, generate.snake(name), None)), name)

    def test_what_is_left_out_is_for_browsers(self) -> None:
        left = [(name, one) for name, _, one in all_operations() if one["operationId"] not in OPERATIONS]
        self.assertEqual(
            {"showConsent", "decideConsent", "showDevice", "decideDevice"},
            {one["operationId"] for name, one in left if name != "console"},
        )
        self.assertEqual(
            {"readStyle", "readIcon", "readSession", "readInstallFile"},
            {one["operationId"] for _, one in left if one.get("x-errors") != "page"},
        )
        for name, path, one in all_operations():
            if name == "console" and one["operationId"] in OPERATIONS:
                self.assertTrue(path.startswith("/api/console/"), path)

    def test_models_that_only_browsers_come_across_are_left_out(self) -> None:
        for name in ("ConsentForm", "LinkForm", "SignedIn"):
            self.assertFalse(hasattr(models, name), name)
        for name in ("ApiToken", "NoticeWebhook", "WebhookEndpoint"):
            self.assertTrue(hasattr(models, name), name)

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
                if one["operationId"] in OPERATIONS and "more" in schema.get("properties", {}):
                    paged.add(one["operationId"])
        source = inspect.getsource(Client)
        for operation in paged:
            self.assertIn(f"self.{generate.snake(operation)}(", source, f"no iterator over the pages of {operation}")
        self.assertEqual(14, len(paged), paged)


if __name__ == "__main__":
    unittest.main()
