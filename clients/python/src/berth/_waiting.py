"""Waiting for an action by long polling: the server responds when the action has ended, or after `wait` seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypedDict

from . import _operations as operations
from ._api import Api
from ._flow import Flow, Pause
from .errors import ActionFailedError, ActionTimeoutError, BerthError
from .types import Action


class StartedAction(TypedDict):
    """What starts an action returns this, among others."""

    vmId: str
    actionId: str


ActionReference: TypeAlias = StartedAction | Action
OnProgress: TypeAlias = Callable[[Action], object]

MAX_POLL = 30
PROGRESS_POLL = 2
"""The server ends a long poll with the action, not with a step: on_progress needs short polls."""
RESPONSE_MARGIN = 15
MIN_POLL = 0.5
"""Limits the poll rate if the server responds early."""
RETRIES = 15
"""About five minutes, more than other calls, so that waiting survives a restart of the server."""


def wait_for_action(
    api: Api,
    reference: ActionReference,
    *,
    on_progress: OnProgress | None = None,
    timeout: float | None = None,
    max_retries: int | None = None,
) -> Flow[Action]:
    ids: Mapping[str, object] = reference
    vm_id, action_id = reference["vmId"], str(ids["actionId"] if "actionId" in ids else ids["id"])
    limit = math.inf if timeout is None else timeout
    deadline = time.monotonic() + limit
    retries = next(each for each in (max_retries, api.max_retries, RETRIES) if each is not None)
    last: Action | None = None
    while (began := time.monotonic()) < deadline:
        # Rounded down to a second, so that the response arrives before the deadline.
        wait = int(min(PROGRESS_POLL if on_progress else MAX_POLL, deadline - began))
        try:
            last = yield from api.call(
                operations.get_action,
                (vm_id, action_id),
                query={"wait": wait},
                timeout=wait + RESPONSE_MARGIN,
                max_retries=retries,
                deadline=deadline,
            )
        except BerthError as error:
            if time.monotonic() < deadline:
                raise
            raise ActionTimeoutError(action_id, last, limit) from error
        if on_progress:
            on_progress(last)
        if last["status"] == "COMPLETED":
            return last
        if last["status"] in ("FAILED", "CANCELLED"):
            raise ActionFailedError(last)
        if time.monotonic() - began < MIN_POLL:
            yield Pause(min(MIN_POLL, max(deadline - time.monotonic(), 0)))
    raise ActionTimeoutError(action_id, last, limit)
