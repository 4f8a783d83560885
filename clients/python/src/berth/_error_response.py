"""Error responses as exceptions."""

from __future__ import annotations

import json
import math
import time
from email.utils import parsedate_to_datetime
from typing import Any

from ._api_errors import BY_CODE
from ._flow import Request, Response
from .errors import ApiError


def to_error(request: Request, response: Response, body: bytes) -> ApiError:
    problem = parse_object(body)
    headers = response.headers
    code = problem.get("code") or headers.get("x-error-code") or "unknown"
    message = problem.get("detail") or problem.get("error") or unexpected_response(request, response)
    missing, alternatives = problem.get("missing"), problem.get("alternatives")
    return BY_CODE.get(code, ApiError)(
        message,
        status=response.status,
        code=code,
        request_id=problem.get("requestId") or headers.get("x-request-id"),
        fields=problem.get("errors"),
        retry_after=parse_retry_after(headers.get("retry-after")),
        no_capacity={"missing": missing, "alternatives": alternatives} if missing and alternatives else None,
    )


def unexpected_response(request: Request, response: Response) -> str:
    if 300 <= response.status < 400:
        return f"{request} is redirected ({response.headers.get('location', 'no location')}). Set base_url to the final URL"
    status = f"{response.status} {response.reason}".strip()
    return f"{request} returned {status}, not from Berth. Check base_url and the proxies in front of the server"


def parse_object(body: bytes) -> dict[str, Any]:
    """An empty one for anything else, such as the HTML page of a proxy."""
    try:
        parsed = json.loads(body)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def parse_retry_after(text: str | None) -> float | None:
    """Retry-After is either seconds or a date."""
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        return seconds_until(text)
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def seconds_until(date: str) -> float | None:
    try:
        return max(parsedate_to_datetime(date).timestamp() - time.time(), 0.0)
    except ValueError:
        return None
