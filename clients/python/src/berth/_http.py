"""What both transports do with httpx."""

from __future__ import annotations

from collections.abc import Generator

import httpx

from ._api import timeout_error
from ._flow import Effect, Open, Read
from .errors import BerthError, NetworkError

MAX_TIMEOUT = 2**31 / 1000
"""Sockets take no longer ones, so they mean no timeout."""


class TokenAuth(httpx.Auth):
    """Adds the token when a request is sent: before that there is none in it that could be logged."""

    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["x-api-key"] = self._token
        yield request

    def __repr__(self) -> str:
        return "TokenAuth(…)"


def timeout_of(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(None if seconds > MAX_TIMEOUT else max(seconds, 0.001))


def translated(error: httpx.HTTPError, effect: Effect) -> BerthError:
    """An error of httpx as ours. It is raised outside of the handler of the other, which holds the request with the token."""
    if not isinstance(effect, (Open, Read)):
        return NetworkError(f"The connection broke: {error}")
    if isinstance(error, httpx.TimeoutException):
        return timeout_error(effect.request, effect.timeout)
    return NetworkError(f"{effect.request} got no complete response: {type(error).__name__}: {error}".rstrip(": "))
