"""What the shared scenarios do not say: the environment, secrets, and connections."""

from __future__ import annotations

import asyncio
import logging
import pickle
import threading
import time
import traceback

import httpx
import pytest

import berth
from berth._server_sent_events import Frame, FrameParser

from .scripted_server import Answer, ScriptedServer

SECRET = "vmk_do-not-tell"  # noqa: S105
REGIONS: Answer = {"status": 200, "body": {"success": True, "data": []}}
EVENT = 'id: 1\ndata: {"cursor":"1"}\n\n'


def test_environment_names_server_and_token(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer([REGIONS]) as server:
        monkeypatch.setenv("BERTH_URL", server.url)
        monkeypatch.setenv("BERTH_TOKEN", SECRET)
        with berth.Berth() as client:
            assert client.regions.list() == []
        assert server.requests[0]["headers"]["x-api-key"] == SECRET


def test_token_and_url_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BERTH_URL", raising=False)
    monkeypatch.setenv("BERTH_TOKEN", " ")
    with pytest.raises(ValueError, match="token is missing"):
        berth.Berth()
    with pytest.raises(ValueError, match="token is missing"):
        berth.AsyncBerth(token="")
    assert repr(berth.Berth(token=SECRET)) == "Berth(base_url='http://127.0.0.1:8080/api/public/v1')"
    with pytest.raises(ValueError, match="base_url must be an http or https URL"):
        berth.Berth(base_url="cloud.example.com", token=SECRET)


def test_token_is_in_no_error_and_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    refused = {"status": 401, "body": {"success": False, "error": "Invalid API token"}}
    shown = []
    with ScriptedServer([{"broken": "reset"}, {"broken": "hang"}, refused]) as server:
        client = berth.Berth(base_url=server.url, token=SECRET, timeout=0.2, max_retries=0)
        for _ in range(3):
            with pytest.raises(berth.BerthError) as caught:
                client.vms.set_password("c12345678", password="correct horse")  # noqa: S106
            # With the values of all variables on the way, as reporters of errors send them.
            frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
            ours = [frame for frame in frames.stack if "/berth/" in frame.filename]
            shown += [str(caught.value), repr(caught.value), *(str(frame.locals) for frame in ours if frame.name != "set_password")]
            assert caught.value.__cause__ is None
            assert caught.value.__context__ is None
        assert server.requests[2]["headers"]["x-api-key"] == SECRET
        client.close()
    assert "POST" in caplog.text
    for text in (caplog.text, *shown):
        assert SECRET not in text


def test_retries_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "berth")
    answers: list[Answer] = [{"broken": "reset"}, REGIONS]
    with ScriptedServer(answers) as server, berth.Berth(base_url=server.url, token=SECRET, sleep=lambda _: None) as client:
        client.regions.list()
    (record,) = [each for each in caplog.records if each.name == "berth"]
    assert record.getMessage() == f"request will be repeated: GET {server.url}/api/public/v1/regions"


def test_errors_can_be_sent_to_another_process() -> None:
    error = berth.RateLimitedError("Slower", status=429, code="rate_limited", retry_after=3)
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (type(copied), str(copied), vars(copied)) == (berth.RateLimitedError, "Slower", vars(error))
    copied = pickle.loads(pickle.dumps(berth.ActionTimeoutError("c1", None, 5)))  # noqa: S301
    assert (str(copied), copied.action_id) == (
        "The server did not respond within 5 seconds. The action continues: wait for action c1 again",
        "c1",
    )


def test_own_http_client_is_not_closed() -> None:
    with ScriptedServer([REGIONS, REGIONS]) as server, httpx.Client() as http:
        with berth.Berth(base_url=server.url, token=SECRET, http_client=http) as client:
            client.regions.list()
        assert not http.is_closed
        other = berth.Berth(base_url=server.url, token=SECRET)
        other.close()
        with pytest.raises(RuntimeError, match="closed"):
            other.regions.list()


def test_body_in_drops_is_given_up() -> None:
    drops = {"status": 200, "stream": "x" * 100, "pieceBytes": 1, "pauseSeconds": 0.05, "end": "close"}
    with ScriptedServer([drops]) as server, berth.Berth(base_url=server.url, token=SECRET) as client:
        began = time.monotonic()
        with pytest.raises(berth.AttemptTimeoutError, match="took longer than 300 ms"):
            client.regions.list(timeout=0.3, max_retries=0)
        assert time.monotonic() - began < 2


def test_threads_share_a_client() -> None:
    with ScriptedServer([REGIONS] * 20) as server, berth.Berth(base_url=server.url, token=SECRET) as client:
        threads = [threading.Thread(target=client.regions.list) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(server.requests) == 20


def test_cancelled_task_gives_its_connection_back() -> None:
    async def cancel() -> None:
        limits = httpx.Limits(max_connections=1)
        with ScriptedServer([{"broken": "stalled"}, REGIONS]) as server:
            async with httpx.AsyncClient(limits=limits) as http:
                client = berth.AsyncBerth(base_url=server.url, token=SECRET, http_client=http)
                task = asyncio.ensure_future(client.regions.list())
                await asyncio.to_thread(server.received.wait)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert await client.regions.list(max_retries=0) == []

    asyncio.run(cancel())


def test_left_stream_gives_its_connection_back() -> None:
    limits = httpx.Limits(max_connections=1)
    stream: Answer = {"status": 200, "stream": EVENT, "end": "open"}
    with ScriptedServer([stream, REGIONS]) as server, httpx.Client(limits=limits) as http:
        client = berth.Berth(base_url=server.url, token=SECRET, http_client=http)
        events = client.events.stream()
        assert next(events)["cursor"] == "1"
        events.close()
        assert client.regions.list(max_retries=0) == []


TEXT = 'retry: 2000\r\n\r\n: still here\n\nid: 7\nevent: x\ndata: {"a":\ndata:1}\n\ndata\n\nid\rdata: ü 🚢\r\rignored: x\n\ndata: cut off'
FRAMES = [
    Frame(None, None, 2000),
    Frame(None, None, None),
    Frame("7", '{"a":\n1}', None),
    Frame("7", "", None),
    Frame("", "ü 🚢", None),
    Frame("", None, None),
]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 1000])
def test_frames_are_the_same_in_every_chunking(size: int) -> None:
    parser = FrameParser()
    content = TEXT.encode()
    assert [frame for at in range(0, len(content), size) for frame in parser.feed(content[at : at + size])] == FRAMES
