"""Requests about questions and results: ask, follow, stop, history, answers, causes, and files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from roamcast.errors import UserError
from roamcast.studio.jobs import QuestionJob
from roamcast.studio.questions import Question, find_options, read_question
from roamcast.studio.security import FRAMED, Refused, read_body
from roamcast.studio.state import StudioState, state_of

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".pdf": "application/pdf",
    ".csv": "text/csv; charset=utf-8",
    ".parquet": "application/octet-stream",
    ".json": "application/json",
}
"Files of a result that are served, by suffix."

_HEADERS = {"Content-Security-Policy": FRAMED}

_RUN = re.compile(r"[0-9a-f]{6,64}")


async def describe_question(request: Request) -> Response:
    """Return the command line of a question, or why it cannot be asked."""
    question = await read_body(request, Question)
    return JSONResponse({"command": question.command(state_of(request).workspace)})


async def ask(request: Request) -> Response:
    """Start a question."""
    question = await read_body(request, Question)
    return JSONResponse(state_of(request).jobs.ask(question).state, status_code=202)


async def stop(request: Request) -> Response:
    """Stop a question."""
    job = state_of(request).jobs.find(request.path_params["job"])
    await job.stop()
    return JSONResponse(job.state)


async def follow(request: Request) -> Response:
    """Stream the state of a question as server-sent events."""
    job = state_of(request).jobs.find(request.path_params["job"])
    return StreamingResponse(_events(job), media_type="text/event-stream")


async def _events(job: QuestionJob) -> AsyncIterator[str]:
    async for state in job.follow():
        yield f"data: {json.dumps(state)}\n\n"


async def list_options(request: Request) -> Response:
    """Return the options of a question that depend on the version."""
    return JSONResponse(find_options())


async def list_results(request: Request) -> Response:
    """Return the history: questions of this server that run or failed, and all results of the folder."""
    studio = state_of(request)
    found = await studio.reading.ask("summary", folders=list(studio.workspace.results()))
    running = {job.state["result"]: job for job in studio.jobs.jobs.values() if job.state["status"] != "done"}
    for row in found:
        question = read_question(row.get("question"), row.get("seeds", 1), row["id"], studio.workspace)
        row["question"] = None if question is None else question.model_dump()
        row["job"] = running[row["id"]].state if row["id"] in running else None
    known = {row["id"] for row in found}
    jobs = [job.state for job in studio.jobs.jobs.values() if job.state["result"] not in known]
    return JSONResponse({"results": found, "jobs": jobs})


async def read_result(request: Request) -> Response:
    """Return the answer of a result, with the key of its files."""
    studio = state_of(request)
    id, _ = _find(studio, request)
    answer: dict[str, Any] = await studio.reading.ask("answer", folder=id)
    question = read_question(answer["question"], len(answer["seeds"]), id, studio.workspace)
    answer["question"] = None if question is None else question.model_dump()
    answer["files"] = f"/files/{studio.keys.sign(id)}/{id}"
    busy = [job.state for job in studio.jobs.jobs.values() if job.state["result"] == id]
    answer["job"] = busy[-1] if busy else None
    return JSONResponse(answer)


async def read_causes(request: Request) -> Response:
    """Return the causes of the losses of one run."""
    studio = state_of(request)
    id, _ = _find(studio, request)
    return JSONResponse(
        await studio.reading.ask("why", folder=id, run=_run(request.query_params.get("run", "")))
    )


async def explain(request: Request) -> Response:
    """Return the explanation of one loss."""
    studio = state_of(request)
    id, _ = _find(studio, request)
    asked = request.query_params
    run, event, node = _run(asked.get("run", "")), asked.get("event", "")[:60], asked.get("node", "")
    if not (node.isascii() and node.isdigit() and len(node) < 10):
        raise UserError("a node is a number")
    return JSONResponse(await studio.reading.ask("explain", folder=id, run=run, event=event, node=int(node)))


def _find(studio: StudioState, request: Request) -> tuple[str, Path]:
    id = request.query_params.get("id", "")
    return id, studio.workspace.find_result(id)


def _run(text: str) -> str:
    if not _RUN.fullmatch(text):
        raise UserError("not the id of a run")
    return text


async def serve_file(request: Request) -> Response:
    """Serve the report, a replay, a figure or a table of a result, in an origin of its own."""
    studio = state_of(request)
    id, folder, rest = _locate(studio, request.path_params["key"], request.path_params["path"])
    if rest == "replay.html":
        file = await _make_replay(studio, id, request)
    elif rest.startswith("csv/"):
        table = rest.removeprefix("csv/").removesuffix(".csv")
        file = studio.spare / f"{_digest(id, table)}.csv"
        await studio.reading.ask("table", folder=id, table=table, target=str(file))
        name = f"{Path(id).name}-{table}.csv"
        return FileResponse(file, media_type=_TYPES[".csv"], filename=name, headers=_HEADERS)
    else:
        file = folder / rest
    if file.suffix not in _TYPES or not _inside(file, (folder, studio.spare)):
        raise Refused(404, "no such file")
    if not file.is_file():
        raise Refused(404, "no such file")
    return FileResponse(file, media_type=_TYPES[file.suffix], headers=_HEADERS)


def _locate(studio: StudioState, key: str, path: str) -> tuple[str, Path, str]:
    """Return id and folder of the result whose files the key opens, and the rest of the path."""
    for id, folder in studio.workspace.results().items():
        if path.startswith(f"{id}/") and key == studio.keys.sign(id):
            return id, folder, path.removeprefix(f"{id}/")
    raise Refused(404, "no such file")


def _inside(file: Path, folders: tuple[Path, ...]) -> bool:
    return any(file.resolve().is_relative_to(folder.resolve()) for folder in folders)


async def _make_replay(studio: StudioState, id: str, request: Request) -> Path:
    """Write the replay of runs given as run=LABEL:ID, and return its file."""
    runs = []
    for each in request.query_params.getlist("run")[:8]:
        label, _, run = each.rpartition(":")
        runs.append([label[:60], _run(run)])
    file = studio.spare / f"{_digest(id, json.dumps(runs))}.html"
    if not file.is_file():
        await studio.reading.ask("replay", folder=id, runs=runs, target=str(file))
    return file


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


ROUTES = [
    Route("/api/command", describe_question, methods=["POST"]),
    Route("/api/ask", ask, methods=["POST"]),
    Route("/api/options", list_options),
    Route("/api/jobs/{job}/stop", stop, methods=["POST"]),
    Route("/api/jobs/{job}/events", follow),
    Route("/api/results", list_results),
    Route("/api/result", read_result),
    Route("/api/why", read_causes),
    Route("/api/explain", explain),
    Route("/files/{key}/{path:path}", serve_file),
]
