"""Plays the scenarios of clients/vectors (its README.md has their format) with either client."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import httpx

import berth
from generate.surface import SURFACE

from .scripted_server import ScriptedServer

ROOT = Path(__file__).resolve().parents[3]
METHODS = {operation: (resource, method) for resource, methods in SURFACE.items() for method, operation in methods.items()}
CLASSES: dict[type[BaseException], str] = {
    berth.ApiError: "api",
    berth.NetworkError: "network",
    berth.AttemptTimeoutError: "timeout",
    berth.ActionFailedError: "action_failed",
    berth.ActionTimeoutError: "action_timeout",
    berth.WebhookVerificationError: "webhook",
    berth.BerthError: "not_berth",
    ValueError: "argument",
}
# Of the fields of an error that are called otherwise in Python.
NAMES = {"requestId": "request_id", "retryAfterSeconds": "retry_after", "noCapacity": "no_capacity", "actionId": "action_id"}

TLS = httpx.create_ssl_context()  # takes longer than a scenario

Scenario = dict[str, Any]


def read(path: str) -> list[Scenario]:
    scenarios: list[Scenario] = json.loads((ROOT / path).read_text())
    return scenarios


class Recording:
    """What a client did."""

    def __init__(self) -> None:
        self.value: Any = None
        self.error: Exception | None = None
        self.items: list[Any] = []
        self.waits: list[float] = []
        self.progress: list[int] = []
        self.reconnects: list[str | None] = []

    def pause(self, seconds: float) -> None:
        self.waits.append(seconds * 1000)


def play(scenario: Scenario, *, asynchronous: bool) -> None:
    """Fails where the client does not behave as the scenario says."""
    recording = Recording()
    with ScriptedServer(scenario["answers"]) as server:
        try:
            if asynchronous:
                asyncio.run(perform_async(scenario, server.url, recording))
            else:
                perform(scenario, server.url, recording)
        except (berth.BerthError, ValueError) as error:
            recording.error = error
    check(scenario, recording, server.requests)


def client_options(scenario: Scenario, url: str) -> dict[str, Any]:
    given = scenario.get("client", {})
    return {
        "base_url": given.get("baseUrl", url) + given.get("basePath", ""),
        "token": given.get("token", "vmk_test"),
        "timeout": seconds(given.get("timeoutMs")),
        "max_retries": given.get("maxRetries"),
    }


def seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def perform(scenario: Scenario, url: str, recording: Recording) -> None:
    options = client_options(scenario, url)
    with httpx.Client(verify=TLS) as http, berth.Berth(**options, http_client=http, sleep=recording.pause) as client:
        if call := scenario.get("call"):
            result = called(client, call)
            recording.value = result.page().items if isinstance(result, berth.Pages) else result
        elif page := scenario.get("page"):
            recording.value = page_value(called(client, page).page())
        elif "wait" in scenario:
            recording.value = client.wait_for_action(**wait_options(scenario["wait"], recording))
        else:
            source: Iterable[Any] = source_of(client, scenario, recording)
            for item in islice(source, take_of(scenario)):
                recording.items.append(item)


async def perform_async(scenario: Scenario, url: str, recording: Recording) -> None:
    async def sleep(pause: float) -> None:
        recording.pause(pause)

    options = client_options(scenario, url)
    async with httpx.AsyncClient(verify=TLS) as http, berth.AsyncBerth(**options, http_client=http, sleep=sleep) as client:
        if call := scenario.get("call"):
            result = called(client, call)
            recording.value = (await result.page()).items if isinstance(result, berth.AsyncPages) else await result
        elif page := scenario.get("page"):
            recording.value = page_value(await called(client, page).page())
        elif "wait" in scenario:
            recording.value = await client.wait_for_action(**wait_options(scenario["wait"], recording))
        else:
            source: AsyncIterable[Any] = source_of(client, scenario, recording)
            async for item in source:
                recording.items.append(item)
                if len(recording.items) == take_of(scenario):
                    break


def called(client: Any, call: dict[str, Any]) -> Any:
    resource, method = METHODS[call["operation"]]
    name = f"quote_{method}" if call.get("dryRun") else method
    fields = {f"{key}_" if key == "from" else key: value for key, value in {**call.get("query", {}), **(call.get("body") or {})}.items()}
    options: dict[str, Any] = {"max_retries": call.get("maxRetries")}
    if "idempotencyKey" in call:
        options["idempotency_key"] = call["idempotencyKey"] or False
    return getattr(getattr(client, resource) if resource else client, name)(*call.get("path", {}).values(), **options, **fields)


def page_value(page: berth.Page[Any]) -> object:
    return {"items": page.items, "pagination": page.pagination, "nextCursor": page.next_cursor}


def wait_options(wait: dict[str, Any], recording: Recording) -> dict[str, Any]:
    return {
        "action": {"vmId": wait["vmId"], "actionId": wait["actionId"]},
        "timeout": seconds(wait.get("timeoutMs")),
        "max_retries": wait.get("maxRetries"),
        "on_progress": (lambda action: recording.progress.append(action["progress"])) if wait.get("progress") else None,
    }


def source_of(client: Any, scenario: Scenario, recording: Recording) -> Any:
    if listing := scenario.get("list"):
        return called(client, listing)
    if "events" in scenario:
        return client.events.list(**scenario["events"])
    stream = scenario["stream"]
    return client.events.stream(
        after=stream.get("after"),
        label_selector=stream.get("labelSelector"),
        max_retries=stream.get("maxRetries"),
        on_reconnect=lambda _, after: recording.reconnects.append(after),
    )


def take_of(scenario: Scenario) -> int | None:
    taken: int | None = (scenario.get("list") or scenario.get("stream") or {}).get("take")
    return taken


def check(scenario: Scenario, recording: Recording, requests: list[dict[str, Any]]) -> None:
    check_outcome(scenario, recording.value, recording.error)
    if "items" in scenario:
        assert_matches(recording.items, scenario["items"])
    if "progress" in scenario:
        assert recording.progress == scenario["progress"]
    if "reconnects" in scenario:
        assert recording.reconnects == scenario["reconnects"]
    if "waits" in scenario:
        assert len(recording.waits) == len(scenario["waits"]), recording.waits
        for pause, (least, most) in zip(recording.waits, scenario["waits"], strict=True):
            assert least <= pause <= most
    if "requests" in scenario:
        assert [line_of(each) for each in requests] == [line_of(each) for each in scenario["requests"]]
        for request, expected in zip(requests, scenario["requests"], strict=True):
            check_request(request, expected)
    check_keys(scenario.get("idempotencyKeys"), [request["headers"].get("idempotency-key") for request in requests])


def line_of(request: dict[str, Any]) -> str:
    return f"{request['method']} {request['path']}"


def check_keys(expected: str | None, keys: list[str | None]) -> None:
    if expected == "same":
        assert len(set(keys)) == 1
        assert re.fullmatch(r"[!-~]{1,255}", keys[0] or "")
    if expected == "none":
        assert set(keys) == {None}


def check_request(request: dict[str, Any], expected: dict[str, Any]) -> None:
    assert request["query"] == expected.get("query", {})
    for name, value in expected.get("headers", {}).items():
        sent = request["headers"].get(name)
        if isinstance(value, dict):
            assert sent is not None
            assert re.search(value["matches"], sent), sent
        else:
            assert sent == value
    if "body" in expected:
        assert (json.loads(request["body"]) if request["body"] else None) == expected["body"]


def check_outcome(scenario: Scenario, value: Any, error: Exception | None) -> None:
    expected = scenario.get("error")
    if not expected:
        if error:
            raise error
        if "value" in scenario:
            assert_matches(value, scenario["value"])
        return
    assert error is not None, f"expected {expected}"
    assert next(name for kind, name in CLASSES.items() if isinstance(error, kind)) == expected["class"], repr(error)
    for name in expected.keys() - {"class", "message", "messageIncludes"}:
        assert_matches(getattr(error, NAMES.get(name, name)), expected[name])
    assert str(error).endswith(expected.get("message", ""))
    assert expected.get("messageIncludes", "").lower() in str(error).lower()


def assert_matches(value: Any, expected: Any) -> None:
    """Fields that are not expected may be there; lists have as many items."""
    if isinstance(expected, dict):
        assert isinstance(value, dict), value
        for name, each in expected.items():
            assert name in value
            assert_matches(value[name], each)
    elif isinstance(expected, list):
        assert len(value) == len(expected)
        for item, each in zip(value, expected, strict=True):
            assert_matches(item, each)
    else:
        assert value == expected
