"""Calls operations: the request, its attempts, and what the answer means."""

from __future__ import annotations

import json
import logging
import math
import random
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from ._error_response import parse_object, to_error
from ._flow import Close, Flow, Open, Pause, Read, Request, Response, T
from ._operation import IdempotencyKey, Operation
from ._url import api_url, fill_path, query_string
from ._version import VERSION
from .errors import ApiError, AttemptTimeoutError, BerthError, NetworkError

ACCEPT = "application/json, application/problem+json"
TIMEOUT = 30.0
RETRIES = 5
FIRST_BACKOFF = 1.0
MAX_BACKOFF = 30.0
SAFE_METHODS = ("GET", "PUT", "DELETE")
TRANSIENT_STATUSES = (502, 503, 504)

log = logging.getLogger("berth")


class Api:
    def __init__(self, base_url: str, timeout: float | None, max_retries: int | None) -> None:
        self.base_url = api_url(base_url)
        self.timeout = timeout
        self.max_retries = max_retries

    def call(self, operation: Operation[T], path: tuple[str, ...], **options: Any) -> Flow[T]:
        """`options` are those of `to_request`."""
        data: Any = (yield from self.call_envelope(operation, path, **options))["data"]
        if operation.starts_action:
            data = {**data, "vmId": path[0] if path else data["vm"]["id"]}
        result: T = data
        return result

    def call_envelope(self, operation: Operation[Any], path: tuple[str, ...], **options: Any) -> Flow[dict[str, Any]]:
        if operation.dry_run:
            options["query"] = {"dryRun": True}
        return (yield from self.request(operation.method, fill_path(operation.path, path), **options))

    def request(self, method: str, path: str, **options: Any) -> Flow[dict[str, Any]]:
        request = self.to_request(method, path, **options)
        answer = yield from with_retries(request, lambda timeout: read_all(request, timeout))
        envelope = parse_object(answer)
        if envelope.get("success") is not True or "data" not in envelope:
            raise BerthError(f"{request.method} {path} returned a response that is not Berth's. Check base_url")
        return envelope

    def open_stream(self, path: str, **options: Any) -> Flow[tuple[Request, Response]]:
        """Returns the response before its body has been read."""
        request = self.to_request("GET", path, **options)
        return request, (yield from with_retries(request, lambda timeout: open_response(request, timeout)))

    def to_request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        deadline: float | None = None,
    ) -> Request:
        method = method.upper()
        sent = {"user-agent": f"berth-python/{VERSION}", "accept": ACCEPT}
        if body is not None:
            sent["content-type"] = "application/json"
        if method != "GET" and idempotency_key is not False:
            sent["idempotency-key"] = idempotency_key or secrets.token_hex(16)
        return Request(
            method=method,
            url=f"{self.base_url}{path}{query_string(query or {})}",
            headers={**sent, **(headers or {})},
            body=None if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(),
            timeout=first(timeout, self.timeout, TIMEOUT),
            max_retries=int(first(max_retries, self.max_retries, RETRIES)),
            deadline=deadline,
        )


def first(*values: float | None) -> float:
    return next(value for value in values if value is not None)


def with_retries(request: Request, attempt: Callable[[float], Flow[T]]) -> Flow[T]:
    """Repeats what the server did not process (429) and, after transient failures, what is idempotent by method or by key."""
    count = 0
    while True:
        try:
            return (yield from attempt(min(request.timeout, remaining(request))))
        except BerthError as error:
            if count >= request.max_retries or remaining(request) <= 0 or not is_retryable(request, error):
                raise
            pause = min(pause_seconds(error, count), remaining(request))
            log.debug("request will be repeated: %s", request, extra={"pause": pause, "reason": str(error)})
        yield Pause(pause)
        count += 1


def remaining(request: Request) -> float:
    return math.inf if request.deadline is None else max(request.deadline - time.monotonic(), 0)


def is_retryable(request: Request, error: BerthError) -> bool:
    safe = request.method in SAFE_METHODS or "idempotency-key" in request.headers
    if not isinstance(error, ApiError):
        return safe and isinstance(error, (NetworkError, AttemptTimeoutError))
    # With idempotency_in_progress the server still processes an earlier attempt whose connection broke.
    if error.status == 429 or error.code == "idempotency_in_progress":
        return True
    # no_capacity does not clear within the backoff.
    return safe and error.status in TRANSIENT_STATUSES and error.code != "no_capacity"


def pause_seconds(error: BerthError, count: int) -> float:
    """Retry-After plus full jitter over an exponential backoff, so that clients that failed together do not return together."""
    span = backoff(count, FIRST_BACKOFF)
    if not isinstance(error, ApiError):
        return span
    least = 1.0 if error.status == 429 else 0.0
    return max(error.retry_after or 0.0, least) + span


def backoff(count: int, first: float) -> float:
    return random.random() * min(first * 2.0 ** min(count, 30), MAX_BACKOFF)  # noqa: S311 (not a secret)


def open_response(request: Request, timeout: float) -> Flow[Response]:
    began = time.monotonic()
    response: Response = yield Open(request, timeout)
    if 200 <= response.status < 300:
        return response
    raise to_error(request, response, (yield from read_body(request, response, timeout, began)))


def read_all(request: Request, timeout: float) -> Flow[bytes]:
    """To its end within the attempt, so that a truncated response is retried like a missing one."""
    began = time.monotonic()
    response = yield from open_response(request, timeout)
    return (yield from read_body(request, response, timeout, began))


def read_body(request: Request, response: Response, timeout: float, began: float) -> Flow[bytes]:
    """httpx has the timeout for each part; a body that comes in drops is given up here."""
    body = bytearray()
    try:
        while (part := (yield Read(request, response, timeout))) is not None:
            body += part
            if time.monotonic() > began + timeout:
                raise timeout_error(request, timeout)
    finally:
        yield Close(response)
    return bytes(body)


def timeout_error(request: Request, timeout: float) -> AttemptTimeoutError:
    return AttemptTimeoutError(f"{request} took longer than {round(timeout * 1000)} ms")
