"""The scenarios that the clients of all languages share (clients/vectors), and every operation with its example."""

from __future__ import annotations

import dataclasses
import hmac
import json
import re
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, quote

import pytest

import berth
from berth import _api, _error_response, _pages, _url, _waiting

from .vectors import ROOT, Scenario, check_outcome, play, read

FILES = ["requests", "answers", "pagination", "errors", "retries", "actions", "stream"]
SCENARIOS = {file: read(f"clients/vectors/{file}.json") for file in FILES}
WEBHOOKS = read("clients/vectors/webhooks.json")
EXAMPLES = read("openapi/examples.json")

Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(params=[False, True], ids=["Berth", "AsyncBerth"])
def asynchronous(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("scenario", [pytest.param(each, id=f"{file}: {each['name']}") for file in FILES for each in SCENARIOS[file]])
def test_scenario(scenario: Scenario, asynchronous: bool) -> None:
    play(scenario, asynchronous=asynchronous)


def plant_requests(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_url, "escape", lambda _, value: value)


def plant_answers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_api, "parse_object", lambda _: {"success": True, "data": {}})


def plant_pagination(patch: pytest.MonkeyPatch) -> None:
    fetch = _pages.Listing.fetch

    def without_filter(listing: Any, query: dict[str, object]) -> Any:
        kept = {name: value for name, value in query.items() if name != "labelSelector"} if "cursor" in query else query
        return fetch(listing, kept)

    patch.setattr(_pages.Listing, "fetch", without_filter)


def plant_errors(patch: pytest.MonkeyPatch) -> None:
    to_error = _error_response.to_error

    def internal(*args: Any) -> berth.ApiError:
        error = to_error(*args)
        error.code = "internal_error"
        return error

    patch.setattr(_api, "to_error", internal)


def plant_retries(patch: pytest.MonkeyPatch) -> None:
    open_response = _api.open_response

    def with_own_key(request: Any, timeout: float) -> Any:
        return open_response(dataclasses.replace(request, headers={**request.headers, "idempotency-key": secrets.token_hex()}), timeout)

    patch.setattr(_api, "open_response", with_own_key)


def plant_actions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_waiting, "ActionFailedError", lambda _: None)


def plant_stream(patch: pytest.MonkeyPatch) -> None:
    to_request = _api.Api.to_request

    def without_id(*args: Any, headers: Any = None, **options: Any) -> Any:
        kept = {name: value for name, value in (headers or {}).items() if name != "last-event-id"}
        return to_request(*args, headers=kept, **options)

    patch.setattr(_api.Api, "to_request", without_id)


PLANTS: dict[str, Plant] = {
    "requests": plant_requests,
    "answers": plant_answers,
    "pagination": plant_pagination,
    "errors": plant_errors,
    "retries": plant_retries,
    "actions": plant_actions,
    "stream": plant_stream,
}


@pytest.mark.parametrize("file", FILES)
def test_planted_fault_is_noticed(file: str, asynchronous: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    PLANTS[file](monkeypatch)
    assert any(fails(partial(play, scenario, asynchronous=asynchronous)) for scenario in SCENARIOS[file])


def fails(test: Callable[[], None]) -> bool:
    try:
        test()
    except Exception:
        return True
    return False


def verify(scenario: Scenario) -> None:
    value: Any = None
    error: Exception | None = None
    tolerance = {"tolerance": scenario["toleranceSeconds"]} if "toleranceSeconds" in scenario else {}
    try:
        value = berth.verify_webhook(scenario["payload"], scenario["headers"], scenario["secret"], now=scenario["now"], **tolerance)
    except (berth.BerthError, ValueError) as raised:
        error = raised
    check_outcome(scenario, value, error)


@pytest.mark.parametrize("scenario", [pytest.param(each, id=each["name"]) for each in WEBHOOKS])
def test_webhook(scenario: Scenario) -> None:
    verify(scenario)


def test_planted_fault_of_webhooks_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hmac, "compare_digest", lambda *_: True)
    assert any(fails(partial(verify, scenario)) for scenario in WEBHOOKS)


PATHS = {
    spec["operationId"]: path
    for path, methods in json.loads((ROOT / "openapi/v1.json").read_text())["paths"].items()
    for spec in methods.values()
}


@pytest.mark.parametrize("example", [pytest.param(each, id=each["operationId"]) for each in EXAMPLES])
def test_example(example: dict[str, Any], asynchronous: bool) -> None:
    path, _, query_text = example["path"].partition("?")
    query = dict(parse_qsl(query_text))
    pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", PATHS[example["operationId"]])
    values = re.fullmatch(pattern, path)
    assert values
    sent = {"query": query, "body": example.get("body")}
    play(
        {
            "call": {"operation": example["operationId"], "path": values.groupdict(), **sent},
            "answers": [{"status": example["status"], "body": example["answer"]}],
            "requests": [{"method": example["method"], "path": f"/api/public/v1{quote(path)}", **sent}],
            "value": example["answer"]["data"],
        },
        asynchronous=asynchronous,
    )
