"""The client without input and output: a flow is a generator that yields what is to be done and gets what came of it.

`_sync.py` and `_async.py` do it. Everything else is written once.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

T = TypeVar("T")
Item = TypeVar("Item")


@dataclass(frozen=True)
class Request:
    method: str
    url: str
    headers: dict[str, str]
    """Without the token. The same in every attempt."""
    body: bytes | None = field(repr=False)
    """May hold passwords."""
    timeout: float
    """Seconds for one attempt; of a stream, for the response to begin and between two parts of it."""
    max_retries: int
    deadline: float | None = None
    """For all attempts and pauses, by time.monotonic()."""

    def __str__(self) -> str:
        return f"{self.method} {self.url}"


@dataclass(frozen=True)
class Response:
    """A response whose body has not been read."""

    status: int
    reason: str
    headers: Mapping[str, str]
    raw: Any
    """As httpx has it, with an iterator over the parts of the body."""
    parts: Any


@dataclass(frozen=True)
class Open:
    """Sends the request; returns the Response."""

    request: Request
    timeout: float


@dataclass(frozen=True)
class Read:
    """Returns the next bytes of the body; None at its end."""

    request: Request
    response: Response
    timeout: float


@dataclass(frozen=True)
class Close:
    response: Response


@dataclass(frozen=True)
class Pause:
    seconds: float


Effect: TypeAlias = Open | Read | Close | Pause
Flow: TypeAlias = Generator[Effect, Any, T]


class Source(Protocol[Item]):
    """What can be iterated over."""

    def next(self) -> Flow[list[Item] | None]:
        """The next items; None at the end."""

    def close(self) -> Flow[None]: ...
