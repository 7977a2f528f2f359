"""Queries over the tables of a result, answered by `roamcast sql` in a child process."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from roamcast.errors import UserError
from roamcast.studio.security import RequestBody, read_body
from roamcast.studio.state import state_of

MOST_ROWS = 2000
"Rows of an answer; further ones are left out."

LIMIT = 180.0
"Maximum duration of a query [s]; a cold Spark session takes some seconds of it."

_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--|/\*|[A-Za-z_]\w*|\s+|.""", re.DOTALL)
"Strings, quoted names, comments, words and other characters of Spark's SQL."

_FIRST = ("select", "with", "from", "values", "describe", "desc", "show", "explain")
_REFUSED = frozenset(("insert", "overwrite", "delete", "merge", "reflect", "java_method", "try_reflect"))
"Words that change something or call Java."

_FORMATS = frozenset(
    ("csv", "json", "parquet", "orc", "text", "avro", "xml", "delta", "binaryfile", "libsvm", "image")
)
"Formats: a name after one of them and a dot is a file."


class QueryRequest(RequestBody):
    """A query over the tables of a result."""

    id: Annotated[str, Field(max_length=500)]
    query: Annotated[str, Field(min_length=1, max_length=20_000)]


def check_query(query: str) -> str:
    """Return the query without a closing semicolon; raise UserError unless it only reads tables.

    Spark's SQL can also write files, read any file, call Java methods and start programs.
    """
    plain = query.strip().rstrip(";").strip()
    tokens = [token for token in _TOKEN.findall(plain) if not token.isspace()]
    if "--" in tokens or "/*" in tokens:
        raise UserError("write the query without comments")
    words = [token.lower() for token in tokens]
    if not words or words[0] not in _FIRST or ";" in tokens:
        raise UserError("expected one query that begins with SELECT or WITH (or DESCRIBE, SHOW, EXPLAIN)")
    for word, after in zip(words, [*words[1:], ""], strict=True):
        name = word.strip("`")
        if name in _REFUSED:
            raise UserError(f"{name.upper()}: the studio only reads tables; use roamcast sql in a terminal")
        if word in ("using", "r") and after[:1] in ("'", '"'):  # a program, a string without escapes
            raise UserError(f"{word.upper()} before a string: the studio only reads tables")
        if after == "." and name in _FORMATS:
            raise UserError(f"{name}.: the studio reads the tables of this result only, not files")
        if word == "." and after.startswith("`"):
            raise UserError("a quoted name after a dot: the studio reads the tables of this result only")
    return plain


async def list_tables(request: Request) -> Response:
    """Return the tables of a result with their columns."""
    studio = state_of(request)
    id = request.query_params.get("id", "")
    studio.workspace.find_result(id)
    lines = await _run(studio.workspace.folder, [id])
    return JSONResponse(json.loads(lines[0]))


async def query(request: Request) -> Response:
    """Answer a query with at most `MOST_ROWS` rows."""
    studio = state_of(request)
    asked = await read_body(request, QueryRequest)
    studio.workspace.find_result(asked.id)
    checked = check_query(asked.query)
    lines = await _run(studio.workspace.folder, [asked.id, checked])
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines[:MOST_ROWS]]
    command = {"command": ["roamcast", "sql", asked.id, checked]}
    return JSONResponse(command | {"rows": rows, "more": len(lines) > MOST_ROWS})


def _session() -> list[str]:
    """Return the option that keeps a Spark session warm between queries, unless the user refuses it."""
    return [] if os.environ.get("ROAMCAST_WARM") == "0" else ["--warm"]


async def _run(folder: Path, words: list[str]) -> list[str]:
    """Return the lines that `roamcast sql` prints, one more than `MOST_ROWS` at most."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "from roamcast.cli import main; main()", "sql", "--json", *_session()),
        *("--", *words),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=16_000_000,
        start_new_session=True,
    )
    lines: list[str] = []
    assert process.stdout is not None and process.stderr is not None
    errors = asyncio.create_task(process.stderr.read())
    try:
        async with asyncio.timeout(LIMIT):
            async for line in process.stdout:
                lines.append(line.decode())
                if len(lines) > MOST_ROWS:
                    return lines
            code = await process.wait()
            answer = (await errors).decode(errors="replace").strip()
    except TimeoutError:
        raise UserError(f"the query takes longer than {LIMIT:g} s; it was stopped") from None
    except ValueError:
        raise UserError("a row of the answer is too long; select fewer columns") from None
    finally:
        errors.cancel()
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if code:
        said = [line for line in answer.splitlines() if line.startswith("roamcast: ")]
        last = (said or answer.splitlines() or [f"roamcast sql ended with code {code}"])[-1]
        raise UserError(last.removeprefix("roamcast: "))
    return lines


ROUTES = [Route("/api/tables", list_tables), Route("/api/sql", query, methods=["POST"])]
