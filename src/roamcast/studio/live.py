"""Requests about live nodes whose configuration is in the studio's folder: state, events, replay."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from roamcast.errors import UserError
from roamcast.studio.security import FRAMED, Refused
from roamcast.studio.state import state_of
from roamcast.studio.workspace import Workspace

LIMIT = 2.0
"Time in which a node must answer [s]."

MOST_NODES = 64


MINUTES = (1, 5, 15)
"Periods that can be watched [min]."


async def list_nodes(request: Request) -> Response:
    """Return the state of each node, or why it does not answer, and the folders of their facts."""
    workspace = state_of(request).workspace
    asked = [_read(name, file) for name, file in workspace.node_files()[:MOST_NODES]]
    nodes = await asyncio.gather(*asked)
    return JSONResponse({"nodes": nodes, "facts": sorted(_find_facts(workspace)), "minutes": MINUTES})


async def list_events(request: Request) -> Response:
    """Return the events that passed in the last minutes, from the facts of the nodes."""
    studio = state_of(request)
    folder, minutes = _period(request)
    return JSONResponse(await studio.watching.ask("live events", folder=folder, last=60.0 * minutes))


async def make_replay(request: Request) -> Response:
    """Write the replay of the last minutes; return its address, which a sandboxed frame can open."""
    studio = state_of(request)
    folder, minutes = _period(request)
    name = f"live-{hashlib.sha256(folder.encode()).hexdigest()[:16]}-{minutes}.html"
    target = str(studio.spare / name)
    await studio.watching.ask("live replay", folder=folder, last=60.0 * minutes, target=target)
    return JSONResponse({"address": f"/live/{studio.keys.sign(name)}/{name}?at={time.time():.0f}"})


async def serve_replay(request: Request) -> Response:
    """Serve a replay that was made, in an origin of its own."""
    studio = state_of(request)
    key, name = request.path_params["key"], request.path_params["name"]
    file = studio.spare / name
    if not hmac.compare_digest(key.encode(), studio.keys.sign(name).encode()) or not file.is_file():
        raise Refused(404, "no such file")
    headers = {"Content-Security-Policy": FRAMED}
    return FileResponse(file, media_type="text/html; charset=utf-8", headers=headers)


def _period(request: Request) -> tuple[str, int]:
    """Return the folder and the minutes that a request names."""
    folder, minutes = request.query_params.get("facts", ""), request.query_params.get("minutes", "")
    if folder not in _find_facts(state_of(request).workspace):
        raise UserError(f"no live node of this folder writes facts to {folder[:100]!r}")
    if minutes not in map(str, MINUTES):
        raise UserError(f"minutes: expected one of {', '.join(map(str, MINUTES))}")
    return folder, int(minutes)


def _find_facts(workspace: Workspace) -> set[str]:
    """Return the folders, below that of the studio, into which live nodes have written facts."""
    from roamcast.facts.live.network import is_live
    from roamcast.live.config import read_config

    found = set()
    for _, file in workspace.node_files()[:MOST_NODES]:
        try:
            folder = read_config(file).facts
        except (UserError, ValueError, OSError):
            continue
        if folder is not None and folder.resolve().is_relative_to(workspace.folder) and is_live(folder):
            found.add(str(folder.resolve().relative_to(workspace.folder)))
    return found


async def _read(name: str, file: Path) -> dict[str, Any]:
    from roamcast.live.config import read_config
    from roamcast.live.control import ask

    record: dict[str, Any] = {"file": name, "state": None, "problem": ""}
    try:
        config = read_config(file)
        record |= {"protocol": config.protocol, "name": config.name, "records": config.facts is not None}
        assert config.control is not None  # the file has the key
        async with asyncio.timeout(LIMIT):
            async for answer in ask(config.control, {"do": "top"}):
                record["state"] = answer
    except TimeoutError:
        record["problem"] = f"no answer within {LIMIT:g} s"
    except (UserError, ValueError, OSError) as error:
        record["problem"] = str(error).splitlines()[0][:300]
    return record


ROUTES = [
    Route("/api/live", list_nodes),
    Route("/api/live/events", list_events),
    Route("/api/live/replay", make_replay),
    Route("/live/{key}/{name}", serve_replay),
]
