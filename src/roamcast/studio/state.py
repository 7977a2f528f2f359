"""The state of one server: its folder, workers, jobs and keys."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.requests import Request

from roamcast.studio.child.worker import Worker
from roamcast.studio.jobs import JobList
from roamcast.studio.security import AccessKeys
from roamcast.studio.workspace import Workspace

EDIT_LIMIT = 30.0
"Maximum duration of a check [s]."
PREVIEW_LIMIT = 120.0
"Maximum duration of a prediction or a map of the gallery [s]; the first one of a process loads libraries."
READ_LIMIT = 300.0
"Maximum duration of reading a result, of a replay or of an import [s]."


class StudioState:
    """Everything that requests share."""

    def __init__(self, folder: Path, keys: AccessKeys) -> None:
        self.keys = keys
        self.workspace = Workspace(folder)
        self.editing = Worker(self.workspace.folder, EDIT_LIMIT)
        "Checks and maps, which should answer at once."
        self.previewing = Worker(self.workspace.folder, PREVIEW_LIMIT)
        "Maps of the gallery and predictions, which must not delay a check."
        self.reading = Worker(self.workspace.folder, READ_LIMIT)
        "Results, replays and imports."
        self.watching = Worker(self.workspace.folder, READ_LIMIT)
        "Runs of the running question, and live nodes."
        self.jobs = JobList(self.workspace, self.watching)
        self.overviews: dict[tuple[str, int, int], Any] = {}
        "What the gallery shows, by id, time and size of the file."
        self._spare = TemporaryDirectory(prefix="roamcast-studio-")
        self.spare = Path(self._spare.name)
        "For files made on request."

    async def close(self) -> None:
        """Stop the jobs and end the workers."""
        await self.jobs.close()
        for worker in (self.editing, self.previewing, self.reading, self.watching):
            await worker.close()
        self._spare.cleanup()


def state_of(request: Request) -> StudioState:
    """Return the state of the server that serves a request."""
    found: StudioState = request.app.state.studio
    return found
