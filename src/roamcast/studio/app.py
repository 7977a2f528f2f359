"""The web application: routes, static files of the page, and errors as JSON."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from roamcast.errors import UserError
from roamcast.studio import live, results, sql, worlds
from roamcast.studio.security import AccessKeys, Guard, Refused
from roamcast.studio.state import StudioState

_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


def make_app(folder: Path, keys: AccessKeys, hosts: frozenset[str]) -> Starlette:
    """Return the application for a folder; `hosts` are the values of `Host` that it answers to."""
    studio = StudioState(folder, keys)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await studio.close()

    app = Starlette(
        routes=[
            *worlds.ROUTES,
            *results.ROUTES,
            *sql.ROUTES,
            *live.ROUTES,
            Route("/", _page),
            Route("/{name}", _page),
        ],
        middleware=[Middleware(Guard, keys=keys, hosts=hosts)],
        exception_handlers={UserError: _tell_user, HTTPException: _tell_http, Exception: _tell_defect},
        lifespan=lifespan,
    )
    app.state.studio = studio
    app.state.web = read_web()
    return app


def read_web() -> dict[str, tuple[bytes, str]]:
    """Return content and type of the files of the page, by name."""
    found = {}
    for file in (files("roamcast.studio") / "web").iterdir():
        suffix = Path(file.name).suffix
        kind = _TYPES.get(suffix) or mimetypes.types_map.get(suffix, "application/octet-stream")
        found[file.name] = (file.read_bytes(), kind)
    return found


async def _page(request: Request) -> Response:
    name = request.path_params.get("name", "index.html")
    if name not in request.app.state.web:
        raise Refused(404, "no such page")
    content, kind = request.app.state.web[name]
    return Response(content, media_type=kind)


async def _tell_user(request: Request, error: Exception) -> Response:
    status = error.status if isinstance(error, Refused) else 422
    return JSONResponse({"error": str(error)}, status_code=status)


async def _tell_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, status_code=error.status_code)


async def _tell_defect(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"an error in Roamcast: {type(error).__name__}"}, status_code=500)
