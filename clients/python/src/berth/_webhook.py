"""Verifies the signature of a webhook request (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping

from .errors import WebhookVerificationError
from .types import WebhookEvent

PREFIX = "whsec_"


def verify_webhook(
    payload: str | bytes, headers: Mapping[str, str], secret: str, *, tolerance: float = 300, now: float | None = None
) -> WebhookEvent:
    """Returns the event or raises WebhookVerificationError.

    The signature covers the bytes of the body: pass the raw body, not a parsed and re-serialised one. After a secret rotation the header
    holds several signatures: one must match.

    `tolerance`: the largest accepted difference in seconds between webhook-timestamp and now, for clock skew and late deliveries.
    `now`: Unix time. Default: the current time.
    """
    key = decode_base64(secret.removeprefix(PREFIX))
    if not key:
        raise ValueError("secret must be the secret of the webhook subscription, whsec_…")
    id, timestamp, signatures = (require_header(headers, f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    require_recent(timestamp, tolerance, time.time() if now is None else now)
    body = payload.encode() if isinstance(payload, str) else payload
    expected = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    candidates = [decode_base64(each.removeprefix("v1,")) for each in signatures.split(" ") if each.startswith("v1,")]
    if not any(hmac.compare_digest(expected, each) for each in candidates if each is not None):
        raise WebhookVerificationError("No signature matches: the secret is wrong, or the body was modified")
    event: WebhookEvent = json.loads(body)
    return event


def require_header(headers: Mapping[str, str], name: str) -> str:
    value = next((value for key, value in headers.items() if key.lower() == name), "")
    if not value:
        raise WebhookVerificationError(f"The header {name} is missing")
    return value


def require_recent(timestamp: str, tolerance: float, now: float) -> None:
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise WebhookVerificationError("The header webhook-timestamp is not a Unix timestamp")
    age = now - int(timestamp)
    if age > tolerance:
        raise WebhookVerificationError("The message is too old: it may be a replay")
    if age < -tolerance:
        raise WebhookVerificationError("The message is from the future: check the clock of this machine")


def decode_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
