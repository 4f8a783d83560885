"""Client of Berth's public API: typed, retried, synchronous and with asyncio."""

from . import _api_errors, types
from ._api_errors import *  # noqa: F403  (a class for each code)
from ._async import AsyncPages
from ._async_client import AsyncBerth
from ._client import Berth
from ._operation import IdempotencyKey
from ._pages import Page
from ._sync import Pages
from ._version import VERSION as __version__
from ._waiting import ActionReference, StartedAction
from ._webhook import verify_webhook
from .errors import (
    ActionFailedError,
    ActionTimeoutError,
    ApiError,
    AttemptTimeoutError,
    BerthError,
    FieldError,
    NetworkError,
    NoCapacity,
    WebhookVerificationError,
)
from .types import EVENT_TYPES

__all__ = [
    "EVENT_TYPES",
    "ActionFailedError",
    "ActionReference",
    "ActionTimeoutError",
    "ApiError",
    "AsyncBerth",
    "AsyncPages",
    "AttemptTimeoutError",
    "Berth",
    "BerthError",
    "FieldError",
    "IdempotencyKey",
    "NetworkError",
    "NoCapacity",
    "Page",
    "Pages",
    "StartedAction",
    "WebhookVerificationError",
    "__version__",
    "types",
    "verify_webhook",
]
__all__ += _api_errors.__all__
