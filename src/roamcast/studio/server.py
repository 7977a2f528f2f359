"""The server of the studio: loopback only, one address with a token, until Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from roamcast.errors import UserError
from roamcast.studio.app import make_app
from roamcast.studio.security import AccessKeys

LOOPBACK = "127.0.0.1"


def serve(folder: Path, port: int, started: Callable[[str], object]) -> None:
    """Serve the studio for `folder` until it is interrupted; `started` is called with its address.

    Port 0 takes a free one.
    """
    keys = AccessKeys()
    with _listen(port) as listening:
        taken = listening.getsockname()[1]
        hosts = frozenset({f"{LOOPBACK}:{taken}", f"localhost:{taken}"})
        app = make_app(folder, keys, hosts)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
            limit_concurrency=200,
            h11_max_incomplete_event_size=32_768,
            ws="none",
        )
        started(f"http://{LOOPBACK}:{taken}/#token={keys.token}")
        uvicorn.Server(config).run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
        listening.listen(128)
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"port {port}: cannot listen on {LOOPBACK}: {reason}") from None
    return listening
