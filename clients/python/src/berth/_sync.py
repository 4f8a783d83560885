"""Generated from _async.py by `python3 -m generate`. Do not edit."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

import httpx

from ._api import Api
from ._flow import Close, Effect, Flow, Open, Pause, Read, Response, Source, T
from ._http import TokenAuth, timeout_of, translated
from ._operation import Operation
from ._pages import EventSource, Listing, Page, PageSource
from ._stream import OnOpen, OnReconnect, StreamOptions, StreamSource
from .types import Event

Item = TypeVar("Item")


class Connection:
    def __init__(self, api: Api, token: TokenAuth, http: httpx.Client, sleep: Callable[[float], object]) -> None:
        self.api = api
        self.http = http
        self._token = token
        self._sleep = sleep

    def run(self, flow: Flow[T]) -> T:
        outcome: Any = None
        failure: BaseException | None = None
        while True:
            try:
                effect = flow.throw(failure) if failure else flow.send(outcome)
            except StopIteration as end:
                result: T = end.value
                return result
            outcome, failure = None, None
            try:
                outcome = self._perform(effect)
            except BaseException as error:  # the flow closes what it has open, and raises it again
                failure = error

    def iterate(self, source: Source[Item]) -> Generator[Item, None]:
        try:
            while (items := self.run(source.next())) is not None:
                for item in items:
                    yield item
        finally:
            self.run(source.close())

    def _perform(self, effect: Effect) -> object:
        try:
            return self._do(effect)
        except httpx.HTTPError as error:
            failure = translated(error, effect)
        raise failure

    def _do(self, effect: Effect) -> object:
        if isinstance(effect, Open):
            return self._open(effect)
        if isinstance(effect, Read):
            return next(effect.response.parts, None)
        if isinstance(effect, Close):
            effect.response.raw.close()
        if isinstance(effect, Pause):
            self._sleep(effect.seconds)
        return None

    def _open(self, effect: Open) -> Response:
        request, timeout = effect.request, timeout_of(effect.timeout)
        built = self.http.build_request(request.method, request.url, headers=request.headers, content=request.body, timeout=timeout)
        # A redirect would send the token to another host.
        raw = self.http.send(built, auth=self._token, follow_redirects=False, stream=True)
        return Response(raw.status_code, raw.reason_phrase, raw.headers, raw, raw.iter_bytes())


class Pages(Generic[Item]):
    """Iterates from the requested page to the end: `for vm in client.vms.list()`."""

    def __init__(self, connection: Connection, listing: Listing[Item]) -> None:
        self._connection = connection
        self._listing = listing

    def __iter__(self) -> Generator[Item, None]:
        return self._connection.iterate(PageSource(self._listing))

    def all(self) -> list[Item]:
        return [item for item in self]

    def page(self, *, page: int | None = None, limit: int | None = None, cursor: str | None = None) -> Page[Item]:
        """A single page. Default: the first 20 items."""
        return self._connection.run(self._listing.page({"page": page, "limit": limit, "cursor": cursor}))


class Resource:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _call(self, operation: Operation[T], path: tuple[str, ...], **options: Any) -> T:
        return self._connection.run(self._connection.api.call(operation, path, **options))

    def _pages(self, operation: Operation[list[Item]], path: tuple[str, ...], *, query: Any, **options: Any) -> Pages[Item]:
        return Pages(self._connection, Listing(self._connection.api, operation, path, query, options))


class EventResource(Resource):
    def list(
        self,
        *,
        after: str | None = None,
        label_selector: str | None = None,
        limit: int = 100,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> Generator[Event, None]:
        """All events after a cursor, up to now. `limit` is how many are fetched at a time."""
        query = {"after": after, "labelSelector": label_selector, "limit": limit}
        options = {"timeout": timeout, "max_retries": max_retries}
        return self._connection.iterate(EventSource(self._connection.api, query, options))

    def stream(
        self,
        *,
        after: str | None = None,
        label_selector: str | None = None,
        on_open: OnOpen | None = None,
        on_reconnect: OnReconnect | None = None,
        max_retries: int | None = None,
    ) -> Generator[Event, None]:
        """New events as they occur; does not end by itself.

        `after`: the cursor of the last event already processed, "0" for all. Default: only new events.
        `on_open`: called each time the server has started to respond: no event after this point is missed.
        `on_reconnect`: called before each reconnect with the reason and the cursor it resumes from.
        `max_retries`: of the first connect. Reconnects after that are retried without limit.
        """
        options = StreamOptions(after, label_selector, on_open, on_reconnect, max_retries)
        return self._connection.iterate(StreamSource(self._connection.api, options))
