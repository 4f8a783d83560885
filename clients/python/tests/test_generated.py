"""What is generated is as it would be generated now, and has every operation."""

from __future__ import annotations

import copy
import inspect
import json
from typing import Any

import pytest

import berth
from generate import PACKAGE, ROOT, generated
from generate.generate import modules
from generate.surface import SURFACE

DOCUMENT: dict[str, Any] = json.loads((ROOT / "openapi/v1.json").read_text())


@pytest.mark.parametrize(("path", "text"), generated().items(), ids=generated())
def test_file_is_fresh(path: str, text: str) -> None:
    assert (PACKAGE / path).read_text() == text, "run `python3 -m generate` in clients/python"


def test_new_operation_needs_a_method() -> None:
    document = copy.deepcopy(DOCUMENT)
    document["paths"]["/regions"]["delete"] = {**document["paths"]["/regions"]["get"], "operationId": "deleteRegions"}
    with pytest.raises(ValueError, match=r"operations without a method: \{'deleteRegions'\}"):
        modules(document)


def test_both_clients_have_the_same_methods() -> None:
    with berth.Berth(token="vmk_test") as client:  # noqa: S106
        asynchronous = berth.AsyncBerth(token="vmk_test")  # noqa: S106
        for resource in SURFACE:
            pair = [getattr(each, resource) if resource else each for each in (client, asynchronous)]
            ours, theirs = ([name for name in dir(each) if not name.startswith("_")] for each in pair)
            assert ours == theirs
            for name in ours:
                methods = [getattr(each, name) for each in pair]
                if inspect.ismethod(methods[0]):
                    assert list(inspect.signature(methods[0]).parameters) == list(inspect.signature(methods[1]).parameters)


def test_every_error_code_has_a_class() -> None:
    codes = DOCUMENT["components"]["headers"]["X-Error-Code"]["schema"]["enum"]
    names = {code: "".join(word.capitalize() for word in code.removesuffix("_error").split("_")) + "Error" for code in codes}
    assert {code for code, name in names.items() if not issubclass(getattr(berth, name), berth.ApiError)} == set()
    assert "token.created" in berth.EVENT_TYPES
    assert "webhook.test" not in berth.EVENT_TYPES
