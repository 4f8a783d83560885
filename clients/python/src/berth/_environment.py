"""The server and the token where the program names none: the variables of the command line client."""

from __future__ import annotations

import os

DEFAULT_URL = "http://127.0.0.1:8080"


def resolve(base_url: str | None, token: str | None) -> tuple[str, str]:
    secret = os.environ.get("BERTH_TOKEN", "") if token is None else token
    if not secret.strip():
        raise ValueError("token is missing. Pass an API token, vmk_…, or set BERTH_TOKEN")
    return base_url or os.environ.get("BERTH_URL") or DEFAULT_URL, secret
