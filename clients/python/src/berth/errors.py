"""All errors of this package. What cannot be right before anything is sent is a ValueError."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from .types import Action


class BerthError(Exception):
    """What all others are."""

    def __reduce__(self) -> tuple[object, ...]:
        # Otherwise pickle would call __init__ with the message alone.
        return type(self).__new__, (type(self), *self.args), self.__dict__


class FieldError(TypedDict):
    """A field of the request that failed validation."""

    field: str
    message: str


class Alternatives(TypedDict):
    regions: list[str]
    """Slugs of regions with room for the same now."""
    plans: list[str]
    """Slugs of plans with room in the same region now."""
    later: bool
    """Whether the same can have room in the same region another time."""


class NoCapacity(TypedDict):
    missing: list[str]
    """Such as `ram`, `vcpu`, `dedicated_cpu`, `disk`, `address`, `trait`, `placement_group`."""
    alternatives: Alternatives


class ApiError(BerthError):
    """The server returned an error. The message is the server's: what happened, why, and what to do next.

    Each code has a class of its own, such as NotFoundError; a code of a later server is an ApiError.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str = "unknown",
        request_id: str | None = None,
        fields: list[FieldError] | None = None,
        retry_after: float | None = None,
        no_capacity: NoCapacity | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        """`unknown` if a proxy answered instead of the server."""
        self.request_id = request_id
        """Identifies the request in the server's log: include it in support tickets."""
        self.fields = fields or []
        self.retry_after = retry_after
        """Seconds, from the Retry-After header."""
        self.no_capacity = no_capacity
        """Of `no_capacity`: what is missing, and what can be had instead."""


class NetworkError(BerthError):
    """No response arrived, or only part of one. The request may have taken effect; repeating it with the same idempotency key is safe."""


class AttemptTimeoutError(BerthError):
    """An attempt took longer than `timeout`."""


class ActionFailedError(BerthError):
    """The action failed or was cancelled. The message is the server's."""

    def __init__(self, action: Action) -> None:
        how = "was cancelled" if action["status"] == "CANCELLED" else "has failed"
        super().__init__(action["error"] or f"{action['action']} {how}")
        self.action = action


class ActionTimeoutError(BerthError):
    """The action did not end within `timeout`. It continues on the server and can be waited for again."""

    def __init__(self, action_id: str, action: Action | None, timeout: float) -> None:
        seen = f"{action['action']} is still {action['status']} ({action['progress']} %) after" if action else ""
        state = seen or "The server did not respond within"
        super().__init__(f"{state} {timeout:g} seconds. The action continues: wait for action {action_id} again")
        self.action_id = action_id
        self.action = action
        """The last state received; None if the server never answered."""


class WebhookVerificationError(BerthError):
    """The signature, the secret or the timestamp of a webhook request is not valid. Respond with 400 and ignore the payload."""
