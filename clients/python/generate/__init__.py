"""Writes the modules of the package that follow from others: from openapi/v1.json, and the synchronous ones from those with asyncio."""

import json
from pathlib import Path

from .generate import modules
from .unasync import MODULES, unasync

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "clients/python/src/berth"


def generated() -> dict[str, str]:
    """By file name."""
    made = modules(json.loads((ROOT / "openapi/v1.json").read_text()))
    written = {name: made.get(name) or (PACKAGE / f"{name}.py").read_text() for name in MODULES}
    synchronous = {MODULES[name]: unasync(name, text) for name, text in written.items()}
    return {f"{name}.py": text for name, text in {**made, **synchronous}.items()}
