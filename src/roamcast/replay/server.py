"""A server for replays of any size: the page, and the frames in pieces when the viewer asks for them.

It listens on the loopback interface only, answers GET alone, and refuses requests that name another host, so
that no page of another site can read a run by a name that it has made to point here.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from roamcast.errors import UserError
from roamcast.replay.packing import Packer
from roamcast.replay.parts.byte_cache import ByteCache
from roamcast.replay.recording import Recording
from roamcast.replay.viewer import make_page, name_runs

LOOPBACK = "127.0.0.1"
_LONGEST_TARGET = 2000

KEPT_BYTES = 32_000_000
"Packed pieces that are kept for further requests [B]."


class ReplayServer(ThreadingHTTPServer):
    """Serves recordings; port 0 takes a free one."""

    daemon_threads = True

    def __init__(self, recordings: Sequence[Recording], port: int = 0) -> None:
        self.recordings = recordings
        self.page = make_page(name_runs(recordings), "", served=True).encode()
        packer = Packer()
        runs = [recording.pack(packer, whole=False) for recording in recordings]
        self.runs = packer.finish({"runs": runs})
        self.kept: ByteCache[tuple[int, int], bytes] = ByteCache(KEPT_BYTES, len)
        self._reading = Lock()
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UserError(f"port {port}: cannot listen on {LOOPBACK}: {reason}") from None

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        return f"http://{LOOPBACK}:{self.server_address[1]}/"

    def _piece(self, run: int, piece: int) -> bytes:
        block = self.kept.get((run, piece))
        if block is None:
            packer = Packer()
            block = packer.finish(self.recordings[run].pack_piece(packer, piece))
            self.kept.put((run, piece), block)
        return block

    def answer(self, target: str) -> tuple[str, bytes] | None:
        """Return type and content of what a path and query mean; None if they mean nothing."""
        split = urlsplit(target)
        if split.path == "/":
            return "text/html; charset=utf-8", self.page
        if split.path == "/runs":
            return "application/octet-stream", self.runs
        try:
            asked = {
                key: int(values[0]) for key, values in parse_qs(split.query, strict_parsing=True).items()
            }
            return self._part(split.path, asked["run"], asked[split.path.removeprefix("/")])
        except (ValueError, KeyError):
            return None

    def _part(self, path: str, run: int, number: int) -> tuple[str, bytes] | None:
        """Return a piece, or the passage of an event."""
        recording = self.recordings[run] if 0 <= run < len(self.recordings) else None
        if recording is None or number < 0:
            return None
        with self._reading:  # one at a time, so that many requests need no more memory than one
            if path == "/piece" and number < recording.pieces:
                return "application/octet-stream", self._piece(run, number)
            if path == "/event" and number < len(recording.publications):
                return "application/json", msgspec.json.encode(recording.find_passage(number))
        return None


class _Handler(BaseHTTPRequestHandler):
    server: ReplayServer
    server_version = "roamcast"
    sys_version = ""

    def do_GET(self) -> None:
        port = self.server.server_address[1]
        if self.headers.get("Host") not in (f"{LOOPBACK}:{port}", f"localhost:{port}"):
            self.send_error(HTTPStatus.FORBIDDEN, "this server answers to its own address only")
            return
        try:
            found = self.server.answer(self.path) if len(self.path) <= _LONGEST_TARGET else None
        except UserError as error:
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, "the facts cannot be read", str(error))
            return
        if found is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        kind, content = found
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: a request is nothing that a user asked to see."""
