"""Lists that span several pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from . import _operations as operations
from ._api import Api
from ._flow import Flow
from ._operation import Operation
from .types import Event, Pagination

Item = TypeVar("Item")

MAX_PAGE_SIZE = 100


@dataclass(frozen=True)
class Page(Generic[Item]):
    items: list[Item]
    pagination: Pagination
    next_cursor: str | None
    """Reads on after the last item; None where there is none."""


@dataclass(frozen=True)
class Listing(Generic[Item]):
    """A list that has been asked for, but not read."""

    api: Api
    operation: Operation[list[Item]]
    path: tuple[str, ...]
    query: Mapping[str, object]
    options: Mapping[str, Any]

    def page(self, query: Mapping[str, object]) -> Flow[Page[Item]]:
        envelope = yield from self.fetch({**self.query, **{name: value for name, value in query.items() if value is not None}})
        return Page(envelope["data"], envelope["pagination"], envelope.get("nextCursor"))

    def fetch(self, query: Mapping[str, object]) -> Flow[dict[str, Any]]:
        return (yield from self.api.call_envelope(self.operation, self.path, query=query, **self.options))


class PageSource(Generic[Item]):
    """From the requested page to the end. Pages are fetched on demand and by cursor, so that an item that is there all the time comes
    once, whatever is added or deleted meanwhile."""

    def __init__(self, listing: Listing[Item]) -> None:
        self._listing = listing
        self._rest = {"limit": MAX_PAGE_SIZE, **{name: value for name, value in listing.query.items() if name != "page"}}
        self._next: Mapping[str, object] | None = {"page": listing.query.get("page")}

    def next(self) -> Flow[list[Item] | None]:
        if self._next is None:
            return None
        envelope = yield from self._listing.fetch({**self._rest, **self._next})
        self._next = next_page(envelope)
        items: list[Item] = envelope["data"]
        return items

    def close(self) -> Flow[None]:
        yield from ()


def next_page(envelope: Mapping[str, Any]) -> Mapping[str, object] | None:
    # A server that knows no cursors answers without the field.
    if "nextCursor" not in envelope and envelope["pagination"]["page"] < envelope["pagination"]["totalPages"]:
        return {"page": envelope["pagination"]["page"] + 1}
    cursor = envelope.get("nextCursor")
    return {"cursor": cursor} if cursor else None


class EventSource:
    """All events after a cursor, up to now."""

    def __init__(self, api: Api, query: Mapping[str, object], options: Mapping[str, Any]) -> None:
        self._api = api
        self._query = {"limit": MAX_PAGE_SIZE, **query}
        self._options = options
        self._ended = False

    def next(self) -> Flow[list[Event] | None]:
        if self._ended:
            return None
        events = yield from self._api.call(operations.list_events, (), query=self._query, **self._options)
        if events:
            self._query["after"] = events[-1]["cursor"]
        self._ended = len(events) < int(str(self._query["limit"]))
        return events

    def close(self) -> Flow[None]:
        yield from ()
