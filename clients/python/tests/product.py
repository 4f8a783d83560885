"""What the tests with the product need."""

from __future__ import annotations

import base64
import secrets
import struct


def public_key() -> str:
    parts = (b"ssh-ed25519", secrets.token_bytes(32))
    return "ssh-ed25519 " + base64.b64encode(b"".join(struct.pack(">I", len(part)) + part for part in parts)).decode()
