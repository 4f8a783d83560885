"""What the generated modules refer to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

T = TypeVar("T")

IdempotencyKey: TypeAlias = str | Literal[False] | None
"""All requests with the same key take effect once: 1-255 visible ASCII characters. None: a random key. False: none is sent, and a write
is not repeated after a network error or a timeout, because it may have taken effect."""


@dataclass(frozen=True)
class Operation(Generic[T]):
    """An operation of the API that returns T."""

    id: str
    method: str
    path: str
    dry_run: bool = False
    starts_action: bool = False
    """Of a VM. The id of the VM, which is part of the action's URL, is added to the result."""
