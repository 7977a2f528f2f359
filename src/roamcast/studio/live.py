"""Requests about live nodes: the state of those whose configuration is in the studio's folder."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from roamcast.errors import UserError
from roamcast.studio.state import state_of

LIMIT = 2.0
"Time in which a node must answer [s]."

MOST_NODES = 64


async def list_nodes(request: Request) -> Response:
    """Return the state of each node, or why it does not answer."""
    files = state_of(request).workspace.node_files()
    asked = [_read(name, file) for name, file in files[:MOST_NODES]]
    return JSONResponse({"nodes": await asyncio.gather(*asked)})


async def _read(name: str, file: Path) -> dict[str, Any]:
    from roamcast.live.config import read_config
    from roamcast.live.control import ask

    told: dict[str, Any] = {"file": name, "state": None, "problem": ""}
    try:
        config = read_config(file)
        told |= {"protocol": config.protocol, "name": config.name}
        assert config.control is not None  # the file has the key
        async with asyncio.timeout(LIMIT):
            async for answer in ask(config.control, {"do": "top"}):
                told["state"] = answer
    except TimeoutError:
        told["problem"] = f"no answer within {LIMIT:g} s"
    except (UserError, ValueError, OSError) as error:
        told["problem"] = str(error).splitlines()[0][:300]
    return told


ROUTES = [Route("/api/live", list_nodes)]
