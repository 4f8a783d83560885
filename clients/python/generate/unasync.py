"""The synchronous modules, from those with asyncio."""

from __future__ import annotations

import re

# In this order.
WORDS = {
    r"from collections.abc import AsyncGenerator, Awaitable, Callable": "from collections.abc import Callable, Generator",
    r"Awaitable, ": "",
    r"Awaitable\[object\]": "object",
    r"asyncio": "time",
    r"with time\b": "on threads",
    r"async (def|for)": r"\1",
    r"await ": "",
    r"anext\(": "next(",
    r"a(close|iter_bytes)\(": r"\1(",
    r"__a(iter|enter|exit)__": r"__\1__",
    r"Async": "",
    r"_async_": "_",
    r"_async\b": "_sync",
}
MODULES = {"_async": "_sync", "_async_client": "_client", "_async_resources": "_resources"}


def unasync(name: str, text: str) -> str:
    body = re.sub(r"^\"\"\".*?\"\"\"\n", "", text, count=1)
    for word, replacement in WORDS.items():
        body = re.sub(word, replacement, body)
    return f'"""Generated from {name}.py by `python3 -m generate`. Do not edit."""\n{body}'
