"""The control socket of a node: JSON lines over a Unix socket.

A client sends a request in a line: {"do": "publish", "event": {...}}, {"do": "subscribe", "filter": "..."}
or {"do": "top"}. The node answers with lines; a wrong request is answered with {"error": "..."}.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from roamcast.content.event import MAX_JSON, Event
from roamcast.errors import UserError
from roamcast.live.errors import LiveError
from roamcast.live.monitoring.view import view
from roamcast.live.node import Node
from roamcast.live.receipt import NotConfirmed
from roamcast.routing.router import Publication

MOST_LINE = MAX_JSON + 4096
MOST_CLIENTS = 64


class Control:
    """Serves the clients of one node."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._clients: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client."""
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            if len(self._clients) > MOST_CLIENTS:
                await _write(writer, {"error": f"more than {MOST_CLIENTS} clients"})
                return
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._clients.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                line = await reader.readline()
                if not line:
                    return
                async for answer in self._do(_read(line), reader):
                    await _write(writer, answer)
            except (UserError, ValueError) as error:
                await _write(writer, {"error": str(error)})
                if isinstance(error, ValueError):
                    return  # a line without end: where the next one begins is unknown

    async def _do(self, request: dict[str, Any], reader: asyncio.StreamReader) -> AsyncIterator[Any]:
        match request:
            case {"do": "publish", "event": dict(event)}:
                async for answer in self._publish(event, request):
                    yield answer
            case {"do": "subscribe", "filter": str(wanted)}:
                async for answer in self._subscribe(wanted, reader):
                    yield answer
            case {"do": "top"}:
                yield view(self._node)
            case _:
                raise LiveError(
                    'a request is {"do": "publish", "event": {...}}, {"do": "subscribe", "filter": "..."}'
                    ' or {"do": "top"}'
                )

    async def _publish(self, event: dict[str, Any], request: dict[str, Any]) -> AsyncIterator[Any]:
        wait, receivers = request.get("wait", 0), request.get("receivers", 0)
        if not isinstance(wait, int | float) or not isinstance(receivers, int) or not 0 <= wait <= 86400:
            raise LiveError("'wait' is a number of seconds up to a day, 'receivers' a whole number")
        async for answer in publish(self._node, event, float(wait), receivers):
            yield answer

    async def _subscribe(self, wanted: str, reader: asyncio.StreamReader) -> AsyncIterator[Any]:
        async with self._node.subscribe(wanted) as subscription:
            yield {"subscribed": str(subscription.filter)}
            gone = asyncio.create_task(reader.read(1))
            try:
                while True:
                    arriving = asyncio.create_task(subscription.next_publication())
                    done, _ = await asyncio.wait({gone, arriving}, return_when=asyncio.FIRST_COMPLETED)
                    if arriving not in done:
                        arriving.cancel()
                        return
                    if arriving.exception() is not None:
                        return
                    yield describe(arriving.result())
            finally:
                gone.cancel()

    def close(self) -> None:
        """Drop all clients."""
        for task in self._clients:
            task.cancel()


async def publish(
    node: Node, event: dict[str, Any], wait: float, receivers: int
) -> AsyncIterator[dict[str, Any]]:
    """Publish an event in JSON; yield its id, then who has acknowledged it within `wait` seconds."""
    receipt = await node.publish(Event.from_json(json.dumps(event), node.types.by_name))
    yield {"published": receipt.id}
    if not wait:
        return
    try:
        async with asyncio.timeout(wait):
            await receipt.received_by(receivers)
            await receipt.acknowledged()
        yield {"acknowledged": sorted(receipt.receivers)}
    except (TimeoutError, NotConfirmed) as error:
        reason = str(error) or _missing_acknowledgements(len(receipt.receivers), max(receivers, 1), wait)
        yield {"error": reason, "acknowledged": sorted(receipt.receivers)}


def _missing_acknowledgements(count: int, expected: int, wait: float) -> str:
    if count >= expected:
        return f"some of the nodes to which it was sent have not acknowledged it within {wait:g} s"
    nodes = "1 node" if count == 1 else f"{count} nodes"
    return f"acknowledged by {nodes} within {wait:g} s, expected {expected}; does a subscription match it?"


def describe(publication: Publication) -> dict[str, Any]:
    """Return a delivered publication as a JSON object."""
    return {
        "publisher": publication.publisher,
        "id": publication.id,
        "event": json.loads(publication.event.to_json()),
    }


@asynccontextmanager
async def listen(node: Node, path: Path) -> AsyncIterator[None]:
    """Serve clients at a Unix socket that only the owner can use."""
    control = Control(node)
    with suppress(FileNotFoundError):
        if await answers(path):
            raise LiveError(f"{path}: another node answers there")
        path.unlink()
    try:
        server = await asyncio.start_unix_server(control.serve, path, limit=MOST_LINE)
    except OSError as error:
        raise LiveError(f"{path}: cannot make the control socket: {error.strerror or error}") from None
    path.chmod(0o600)
    try:
        yield
    finally:
        server.close()
        control.close()
        with suppress(FileNotFoundError):
            path.unlink()


async def answers(path: Path) -> bool:
    """Return whether a node answers at a control socket."""
    try:
        _, writer = await asyncio.open_unix_connection(path)
    except (ConnectionRefusedError, OSError):
        return False
    writer.close()
    return True


async def ask(path: Path, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Send a request to a running node, and yield its answers."""
    try:
        reader, writer = await asyncio.open_unix_connection(path, limit=MOST_LINE)
    except OSError as error:
        raise LiveError(f"{path}: no node answers: {error.strerror or error}") from None
    try:
        await _write(writer, request)
        if request["do"] != "subscribe":  # a subscription lasts until its client closes
            writer.write_eof()
        while line := await reader.readline():
            yield json.loads(line)
    finally:
        writer.close()


def _read(line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        raise LiveError("a request is a JSON object in one line") from None
    if not isinstance(request, dict):
        raise LiveError("a request is a JSON object in one line")
    return request


async def _write(writer: asyncio.StreamWriter, answer: dict[str, Any]) -> None:
    writer.write(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    await writer.drain()
