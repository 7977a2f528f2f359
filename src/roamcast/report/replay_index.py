"""The index of the replays in a campaign's folder: where each is, and why deliveries were lost in its run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from roamcast.report.result import CampaignResult

FOLDER, INDEX = "replays", "index.json"
_FILE = re.compile(r"seed-\d+(-\d+)?\.html")
_EVENT = re.compile(r"\d+/\d+")


class LossCause(msgspec.Struct, kw_only=True):
    """A cause of loss in one run, and a case of it."""

    says: str
    times: int = 0
    proven: int = 0
    event: str
    node: int


class RunReplay(msgspec.Struct, kw_only=True):
    """Where the replay of a run is, and why deliveries were lost in the run."""

    protocol: str
    run: str
    seed: int
    file: str
    pane: int
    "Which map of the file shows the run."
    expected: int
    unreachable: int = 0
    "Expected deliveries to which no path led until the end of the run, whatever the protocol."
    causes: list[LossCause]

    def link(self, case: LossCause | None = None) -> str:
        """Return the address of the run, or of a case, relative to the report."""
        at = f"&event={case.event}&node={case.node}" if case is not None else ""
        return f"{FOLDER}/{self.file}#run={self.pane}&only{at}"


def read_replays(result: CampaignResult) -> list[RunReplay]:
    """Return the replays in the campaign's folder, of runs that it still has."""
    file = result.store.folder / FOLDER / INDEX
    if not file.exists():
        return []
    try:
        found = msgspec.json.decode(file.read(), type=list[RunReplay])
    except (OSError, ValueError):  # a damaged index: the report is made without replays
        return []
    known = {row["run"] for row in result.tables["points"]}
    return [
        each
        for each in found
        if each.run in known
        and _FILE.fullmatch(each.file)
        and all(_EVENT.fullmatch(cause.event) for cause in each.causes)
    ]
