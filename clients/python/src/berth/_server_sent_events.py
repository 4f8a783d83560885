"""Frames of a server-sent stream (https://html.spec.whatwg.org/multipage/server-sent-events.html), as far as an API needs them."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    id: str | None
    """The last id received, in this frame or an earlier one."""
    data: str | None
    retry_ms: int | None


class FrameParser:
    """Takes bytes in parts of any size and returns the frames that they complete."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._id: str | None = None
        self._data: list[str] = []
        self._retry_ms: int | None = None

    def feed(self, part: bytes) -> list[Frame]:
        # A \r at the very end may be half of a \r\n.
        *lines, self._rest = re.split(r"\r\n|\n|\r(?!\Z)", self._rest + self._decoder.decode(part))
        frames = []
        for line in lines:
            if line:
                self._field(line)
            else:
                frames.append(self._frame())
        return frames

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        if name == "id" and "\0" not in value:
            self._id = value
        if name == "retry" and re.fullmatch(r"[0-9]+", value):
            self._retry_ms = int(value)

    def _frame(self) -> Frame:
        frame = Frame(self._id, "\n".join(self._data) if self._data else None, self._retry_ms)
        self._data = []
        self._retry_ms = None
        return frame
