"""Comparisons that run in child processes of the command line: progress, cells, stop."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shlex
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from roamcast.errors import UserError
from roamcast.studio.child.worker import Worker
from roamcast.studio.questions import Question
from roamcast.studio.workspace import Workspace

MOST_WAITING = 20
"Maximum number of questions that wait or run."

_MOST_LINES = 200
_GRACE = 20.0
"Time that a stopped process has to end by itself [s]."

_ANSWERED = (0, 3)
"Exit codes of `roamcast compare` with a result; 3 if some runs failed."

_ENDED = ("done", "failed", "stopped")


class QuestionJob:
    """One question and the process that answers it."""

    def __init__(self, question: Question, workspace: Workspace) -> None:
        self.id = secrets.token_hex(6)
        self.words = question.words(workspace)
        self.state: dict[str, Any] = {
            "id": self.id,
            "status": "waiting",
            "question": question.model_dump(),
            "command": shlex.join(["roamcast", *self.words]),
            "result": question.result,
            "progress": None,
            "cells": [],
            "lines": [],
        }
        self._process: asyncio.subprocess.Process | None = None
        self._changed = asyncio.Condition()
        self._number = 0

    async def change(self, **changes: Any) -> None:
        """Change the state and wake those who follow it."""
        async with self._changed:
            self.state.update(changes)
            self._number += 1
            self._changed.notify_all()

    async def follow(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the state now and after each change, until the job has ended."""
        seen = -1
        while True:
            async with self._changed:
                while self._number == seen:
                    await self._changed.wait()
                seen = self._number
                state = dict(self.state)
            yield state
            if state["status"] in _ENDED:
                return

    async def run(self, workspace: Workspace, worker: Worker) -> None:
        """Run the command and follow its progress until it ends."""
        if self.state["status"] != "waiting":
            return  # stopped while it waited
        program = [sys.executable, "-c", "from roamcast.cli import main; main()"]
        self._process = await asyncio.create_subprocess_exec(
            *program,
            *self.words,
            "--json",
            cwd=workspace.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"ROAMCAST_PROGRESS": "json"},
            limit=16_000_000,
            start_new_session=True,
        )
        await self.change(status="running")
        assert self._process.stdout is not None
        output = asyncio.create_task(self._process.stdout.read())
        look = asyncio.create_task(self._look(workspace, worker))
        try:
            await self._hear(workspace)
            code = await self._process.wait()
        finally:
            look.cancel()
            output.cancel()
        await self._refresh(workspace, worker)
        ended = "done" if code in _ANSWERED and self.state["result"] else "failed"
        await self.change(status="stopped" if self.state["status"] == "stopping" else ended, code=code)

    async def _hear(self, workspace: Workspace) -> None:
        """Read the lines of the process: progress as JSON, messages as they are."""
        assert self._process is not None and self._process.stderr is not None
        async for raw in self._process.stderr:
            line = raw.decode(errors="replace").rstrip()
            answer = _parse(line)
            if "command" in answer:
                words = shlex.split(answer["command"])
                folder = words[words.index("--out") + 1] if "--out" in words else None
                await self.change(command=answer["command"], result=folder)
            elif "progress" in answer:
                await self.change(progress=answer["progress"])
            elif line:
                await self.change(lines=[*self.state["lines"], line[:500]][-_MOST_LINES:])

    async def _look(self, workspace: Workspace, worker: Worker) -> None:
        """Read which runs are done, as long as the process runs."""
        while True:
            await asyncio.sleep(1.0)
            await self._refresh(workspace, worker)

    async def _refresh(self, workspace: Workspace, worker: Worker) -> None:
        folder = self.state["result"]
        if folder is None or not (workspace.folder / folder / "campaign.json").is_file():
            return
        with suppress(UserError):
            cells = await worker.ask("cells", folder=folder)
            if cells != self.state["cells"]:
                await self.change(cells=cells)

    async def stop(self) -> None:
        """Interrupt the process, as Ctrl-C does: finished runs are kept."""
        if self.state["status"] == "waiting":
            await self.change(status="stopped")
            return
        process = self._process
        if process is None or process.returncode is not None:
            return
        await self.change(status="stopping")
        process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_GRACE):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _parse(line: str) -> dict[str, Any]:
    if not line.startswith("{"):
        return {}
    try:
        answer = json.loads(line)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


class JobList:
    """The questions of this server; one runs at a time, because it uses all processors."""

    def __init__(self, workspace: Workspace, worker: Worker) -> None:
        self._workspace = workspace
        self._worker = worker
        self.jobs: dict[str, QuestionJob] = {}
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    def ask(self, question: Question) -> QuestionJob:
        """Queue a question and return its job."""
        busy = [job for job in self.jobs.values() if job.state["status"] not in _ENDED]
        if len(busy) >= MOST_WAITING:
            raise UserError(f"{len(busy)} questions wait already; expected at most {MOST_WAITING}")
        if question.result is not None and any(job.state["result"] == question.result for job in busy):
            raise UserError(f"{question.result}: is running already")
        job = QuestionJob(question, self._workspace)
        self.jobs[job.id] = job
        task = asyncio.create_task(self._run(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    async def _run(self, job: QuestionJob) -> None:
        async with self._turn:
            try:
                await job.run(self._workspace, self._worker)
            except OSError as error:
                await job.change(status="failed", lines=[f"cannot start: {error.strerror or error}"])

    def find(self, id: str) -> QuestionJob:
        """Return the job with an id."""
        if id not in self.jobs:
            raise UserError("no such question")
        return self.jobs[id]

    async def close(self) -> None:
        """Stop all jobs and wait for their processes."""
        for job in self.jobs.values():
            await job.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)
