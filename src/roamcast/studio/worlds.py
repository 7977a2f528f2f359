"""Requests about scenarios: the gallery, checking, predicting, editing, saving, importing."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from roamcast.errors import UserError
from roamcast.files import read_text, safe_name
from roamcast.studio.security import UPLOAD, RequestBody, read_body
from roamcast.studio.state import StudioState, state_of
from roamcast.studio.workspace import LOCAL, WorldFile

_Text = Annotated[str, Field(max_length=4_000_000)]
_Name = Annotated[str, Field(max_length=500)]


class CheckRequest(RequestBody):
    """A text to check as the content of a scenario."""

    world: _Name
    text: _Text


class PredictRequest(CheckRequest):
    """A text of which the advisor predicts the results."""


class KeyChange(RequestBody):
    """A changed key of a scenario; without a value it is removed."""

    path: Annotated[list[Annotated[str, Field(max_length=100)]], Field(min_length=1, max_length=8)]
    input: Annotated[str, Field(pattern="^(text|choice|number|bool|toml)$")]
    value: Annotated[str, Field(max_length=1_000_000)] | None


class EditRequest(RequestBody):
    """Keys of a text to change."""

    world: _Name
    text: _Text
    changes: Annotated[list[KeyChange], Field(min_length=1, max_length=100)]


class SaveRequest(RequestBody):
    """A text to save: over its own file, or under a new name."""

    world: _Name
    text: _Text
    name: Annotated[str, Field(max_length=200)] | None = None


async def list_worlds(request: Request) -> Response:
    """Return all scenarios with their maps."""
    studio = state_of(request)
    found = [await _describe(studio, world) for world in studio.workspace.worlds()]
    live = [name for name, _ in studio.workspace.node_files()]
    return JSONResponse({"folder": str(studio.workspace.folder), "worlds": found, "live": live})


async def _describe(studio: StudioState, world: WorldFile) -> dict[str, Any]:
    """Return what the gallery shows of a scenario; kept until its file changes."""
    try:
        about = world.file.stat()
    except OSError:
        return {"id": world.id, "local": world.local, "problem": "the file is gone"}
    key = (world.id, about.st_mtime_ns, about.st_size)
    if key not in studio.overviews:
        try:
            studio.overviews[key] = await studio.previewing.ask("overview", file=_argument(studio, world))
        except UserError as error:
            studio.overviews[key] = {"problem": str(error)}
    return {"id": world.id, "local": world.local, **studio.overviews[key]}


def _argument(studio: StudioState, world: WorldFile) -> str:
    """Return the path of a scenario as a command in the studio's folder names it."""
    inside = world.file.is_relative_to(studio.workspace.folder)
    return str(world.file.relative_to(studio.workspace.folder) if inside else world.file)


async def read_world(request: Request) -> Response:
    """Return the text of a scenario, and its check."""
    studio = state_of(request)
    world = studio.workspace.find_world(request.query_params.get("id", ""))
    text = read_text(world.file)
    checked = await studio.editing.ask("check", file=_argument(studio, world), text=text)
    return JSONResponse({"id": world.id, "local": world.local, "text": text, "check": checked})


async def check_world(request: Request) -> Response:
    """Check a text."""
    studio = state_of(request)
    asked = await read_body(request, CheckRequest)
    world = studio.workspace.find_world(asked.world)
    return JSONResponse(await studio.editing.ask("check", file=_argument(studio, world), text=asked.text))


async def predict_world(request: Request) -> Response:
    """Return the advisor's predictions for a text; nothing is run."""
    studio = state_of(request)
    asked = await read_body(request, PredictRequest)
    world = studio.workspace.find_world(asked.world)
    return JSONResponse(
        await studio.previewing.ask("predict", file=_argument(studio, world), text=asked.text)
    )


async def edit_world(request: Request) -> Response:
    """Change keys of a text, and check it."""
    studio = state_of(request)
    asked = await read_body(request, EditRequest)
    world = studio.workspace.find_world(asked.world)
    changes = [change.model_dump() for change in asked.changes]
    file = _argument(studio, world)
    return JSONResponse(await studio.editing.ask("edit", file=file, text=asked.text, changes=changes))


async def save_world(request: Request) -> Response:
    """Save a text; return the id of its scenario."""
    studio = state_of(request)
    asked = await read_body(request, SaveRequest)
    world = studio.workspace.find_world(asked.world)
    if asked.name is None:
        if not world.local:
            raise UserError("a shipped scenario is not changed; save a copy under a name of your own")
        studio.workspace.save(world.file, asked.text)
        return JSONResponse({"id": world.id})
    file = studio.workspace.new_file(asked.name)
    if not world.local:
        studio.workspace.copy_named_files(world)
    studio.workspace.save(file, asked.text)
    return JSONResponse({"id": f"{LOCAL}/{file.name}"})


async def import_trace(request: Request) -> Response:
    """Import a movement trace that was dropped on the page; return the id of its scenario."""
    studio = state_of(request)
    name = safe_name(request.query_params.get("name", "trace"))
    plain = studio.workspace.check_name(
        "".join(each if each.isalnum() else "-" for each in name.split(".")[0])
    )
    out = studio.workspace.folder / plain
    if out.exists():
        raise UserError(f"{plain}: exists already in the folder of the studio; rename the file")
    body = await request.body()
    out.mkdir()
    source = out / f"source-{safe_name(name)}"
    try:
        source.write_bytes(body)
        folder = str(out.relative_to(studio.workspace.folder))
        file = str(source.relative_to(studio.workspace.folder))
        answer = await studio.reading.ask("import", file=file, out=folder)
    except UserError:
        source.unlink(missing_ok=True)
        if not any(out.iterdir()):
            out.rmdir()
        raise
    return JSONResponse({"id": f"{LOCAL}/{answer['scenario']}", "imported": answer})


async def list_protocols(request: Request) -> Response:
    """Return the protocols and which can run in a scenario."""
    studio = state_of(request)
    world = studio.workspace.find_world(request.query_params.get("id", ""))
    return JSONResponse(await studio.editing.ask("able", file=_argument(studio, world)))


ROUTES = [
    Route("/api/worlds", list_worlds),
    Route("/api/world", read_world),
    Route("/api/check", check_world, methods=["POST"]),
    Route("/api/predict", predict_world, methods=["POST"]),
    Route("/api/edit", edit_world, methods=["POST"]),
    Route("/api/save", save_world, methods=["POST"]),
    Route(UPLOAD, import_trace, methods=["POST"]),
    Route("/api/protocols", list_protocols),
]
