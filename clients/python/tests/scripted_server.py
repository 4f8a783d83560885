"""An HTTP server that follows the script of a scenario (clients/vectors/README.md)."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

Answer = dict[str, Any]

ENDED: Answer = {"status": 500, "body": {"success": False, "error": "The script has ended"}}


class ScriptedServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answers: list[Answer]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.received = threading.Event()
        self.over = threading.Event()
        self._script = list(answers)
        self._lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> ScriptedServer:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.shutdown()
        self.server_close()

    def receive(self, request: dict[str, Any]) -> Answer:
        with self._lock:
            self.requests.append(request)
            self.received.set()
            return self._script.pop(0) if self._script else ENDED

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients leave streams, and connections whose answer is late."""


class Handler(BaseHTTPRequestHandler):
    server: ScriptedServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def answer(self) -> None:
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = {
            "method": self.command,
            "path": path,
            "query": dict(parse_qsl(query, keep_blank_values=True)),
            "headers": headers,
            "body": body,
        }
        answer = self.server.receive(request)
        if "broken" in answer:
            self._break_off(answer["broken"])
        elif "stream" in answer:
            self._stream(answer)
        else:
            text = answer["text"] if "text" in answer else json.dumps(answer["body"])
            self._begin(answer, "text/html" if "text" in answer else "application/json", {"content-length": str(len(text.encode()))})
            self.wfile.write(text.encode())

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def _begin(self, answer: Answer, kind: str, more: dict[str, str]) -> None:
        self.send_response(answer["status"])
        given = {name: value if isinstance(value, str) else date_ahead(value) for name, value in answer.get("headers", {}).items()}
        for name, value in {"content-type": kind, **given, **more}.items():
            self.send_header(name, value)
        self.end_headers()

    def _stream(self, answer: Answer) -> None:
        self._begin(answer, "text/event-stream", {"transfer-encoding": "chunked"})
        content = answer["stream"].encode()
        size = answer.get("pieceBytes") or len(content) or 1
        for at in range(0, len(content), size):
            piece = content[at : at + size]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            time.sleep(answer.get("pauseSeconds", 0))
        end = answer.get("end")
        if end == "close":
            self.wfile.write(b"0\r\n\r\n")
        elif end == "open":
            self.server.over.wait(10)
        self.close_connection = end != "close"

    def _break_off(self, how: str) -> None:
        if how == "reset":
            # Without lingering, closing sends a reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif how == "hang":
            self.server.over.wait(10)
        else:
            self._begin({"status": 200}, "application/json", {"content-length": "100"})
            self.wfile.write(b'{"success":true,"da')
            if how == "stalled":
                self.server.over.wait(10)
        self.close_connection = True
        self.connection.close()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the requests are recorded."""


def date_ahead(value: dict[str, float]) -> str:
    return formatdate(time.time() + value["secondsFromNow"], usegmt=True)
