"""The stream of the account's events. After a disconnect it is reopened with the id of the last event received."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ._api import Api, backoff
from ._flow import Close, Flow, Pause, Read, Request, Response
from ._server_sent_events import Frame, FrameParser
from .errors import AttemptTimeoutError, BerthError, NetworkError
from .types import Event

OnOpen: TypeAlias = Callable[[], object]
OnReconnect: TypeAlias = Callable[[BerthError, str | None], object]

IDLE_TIMEOUT = 45.0
"""The server sends a keep-alive every 15 seconds."""
DEFAULT_RETRY = 2.0
UNLIMITED = 2**31


@dataclass(frozen=True)
class StreamOptions:
    after: str | None = None
    label_selector: str | None = None
    on_open: OnOpen | None = None
    on_reconnect: OnReconnect | None = None
    max_retries: int | None = None


class StreamSource:
    def __init__(self, api: Api, options: StreamOptions) -> None:
        self._api = api
        self._options = options
        self._after = options.after
        self._pause = DEFAULT_RETRY
        self._max_retries = options.max_retries
        self._attempt = 0
        self._connection: tuple[Request, Response] | None = None
        self._parser = FrameParser()

    def next(self) -> Flow[list[Event] | None]:
        while True:
            request, response = self._connection or (yield from self._connect())
            reason: BerthError = NetworkError("The event stream has ended")
            try:
                part = yield Read(request, response, IDLE_TIMEOUT)
            except (NetworkError, AttemptTimeoutError) as error:
                part, reason = None, NetworkError(f"The event stream was disconnected: {error}")
            if part is None:
                yield from self._disconnect(reason)
            elif events := [event for frame in self._parser.feed(part) for event in self._take(frame)]:
                self._attempt = 0
                return events

    def _connect(self) -> Flow[tuple[Request, Response]]:
        headers = {"accept": "text/event-stream, application/problem+json"}
        if self._after is not None:
            headers["last-event-id"] = self._after
        query = {"labelSelector": self._options.label_selector}
        self._connection = yield from self._api.open_stream(
            "/events", query=query, headers=headers, timeout=IDLE_TIMEOUT, max_retries=self._max_retries
        )
        self._max_retries = UNLIMITED  # of the first connect only
        self._parser = FrameParser()
        if self._options.on_open:
            self._options.on_open()
        return self._connection

    def _disconnect(self, reason: BerthError) -> Flow[None]:
        yield from self.close()
        if self._options.on_reconnect:
            self._options.on_reconnect(reason, self._after)
        yield Pause(backoff(self._attempt, self._pause))
        self._attempt += 1

    def _take(self, frame: Frame) -> list[Event]:
        if frame.retry_ms is not None:
            self._pause = frame.retry_ms / 1000
        self._after = frame.id or self._after
        return [] if frame.data is None else [json.loads(frame.data)]

    def close(self) -> Flow[None]:
        if self._connection:
            yield Close(self._connection[1])
        self._connection = None
