"""Generated from _async_client.py by `python3 -m generate`. Do not edit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType

import httpx

from ._api import Api
from ._sync import Connection
from ._resources import Resources
from ._environment import resolve
from ._http import TokenAuth
from ._operation import IdempotencyKey
from ._waiting import ActionReference, OnProgress, wait_for_action
from .types import Action


class Berth(Resources):
    """Client for one server and one token.

    `base_url`: of the server, with or without `/api/public/v1`. Default: the environment variable BERTH_URL, or http://127.0.0.1:8080.
    `token`: an API token, `vmk_…`. Default: the environment variable BERTH_TOKEN.
    `timeout`: seconds for one attempt including its response body. Default: 30.
    `max_retries`: of a request that is safe to repeat. Default: 5.
    `http_client`: for proxies and certificates of your own; it is not closed with this client.
    `sleep`: waits between two attempts; replace it in tests that control the clock.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        token: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        http_client: httpx.Client | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        url, secret = resolve(base_url, token)
        api = Api(url, timeout, max_retries)
        self._owns_http = http_client is None
        super().__init__(Connection(api, TokenAuth(secret), http_client or httpx.Client(), sleep))

    def wait_for_action(
        self,
        action: ActionReference,
        *,
        on_progress: OnProgress | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> Action:
        """Returns the completed action.

        `action`: the result of `vms.create`, `vms.restart` and similar calls, or an action.
        `on_progress`: called with the action every two seconds and at its end.
        `timeout`: seconds. Default: no limit; every action has a deadline on the server.
        `max_retries`: of a poll that got no response. Default: the client's, or 15.

        Raises ActionFailedError if it failed or was cancelled, ActionTimeoutError if it is still running.
        """
        flow = wait_for_action(self._connection.api, action, on_progress=on_progress, timeout=timeout, max_retries=max_retries)
        return self._connection.run(flow)

    def request(
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
    ) -> object:
        """Calls any endpoint with the same retries, idempotency keys and errors, for endpoints without a method here. Returns `data`.

        `path` is relative to `/api/public/v1`, for example `/vms`.
        """
        envelope = self._connection.run(
            self._connection.api.request(
                method,
                path,
                query=query,
                body=body,
                headers=headers,
                timeout=timeout,
                max_retries=max_retries,
                idempotency_key=idempotency_key,
            )
        )
        return envelope["data"]

    def close(self) -> None:
        if self._owns_http:
            self._connection.http.close()

    def __enter__(self) -> Berth:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Berth(base_url={self._connection.api.base_url!r})"
