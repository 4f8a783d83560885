"""URLs of calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode, urlsplit

from ._operations import PREFIX


def api_url(base_url: str) -> str:
    """The base URL of the API without a trailing slash."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base_url must be an http or https URL such as https://cloud.example.com, and is {base_url!r}")
    path = parts.path.rstrip("/")
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{path if path.endswith(PREFIX) else path + PREFIX}"


def fill_path(template: str, values: tuple[str, ...]) -> str:
    given = iter(values)
    return re.sub(r"\{(\w+)\}", lambda found: escape(found[1], next(given)), template)


def escape(name: str, value: str) -> str:
    # An empty id, "." or ".." would address another path.
    if not isinstance(value, str) or not value.strip("."):
        raise ValueError(f"{name} must be an id, and is {value!r}")
    return quote(value, safe="")


def query_string(values: Mapping[str, object]) -> str:
    """Names that Python reserves are given with a `_` at their end."""
    text = {name.rstrip("_"): query_value(value) for name, value in values.items() if value is not None}
    return f"?{urlencode(text)}" if text else ""


def query_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
