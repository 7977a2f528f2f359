"""Files made from a result on request: the replay of runs, and tables as CSV."""

from __future__ import annotations

from pathlib import Path

from roamcast.campaign.tables import TABLES
from roamcast.errors import UserError
from roamcast.facts.tables import Facts
from roamcast.lake.reading import read_run
from roamcast.results.results_folder import ResultsFolder

MOST_PANES = 4
MOST_FRAMES = 1_000_000
"Maximum number of transmissions of a run that is shown; `roamcast replay --serve` has no such limit."


def write_replay(folder: str, runs: list[list[str]], target: str) -> int:
    """Write the replay of `runs`, pairs of a label and a run, to `target`; return its size [B]."""
    from roamcast.replay.recording import Recording
    from roamcast.replay.viewer import make_viewer

    if not 1 <= len(runs) <= MOST_PANES:
        raise UserError(f"{len(runs)} runs; at most {MOST_PANES} fit side by side")
    recordings = []
    for label, run in runs:
        facts = read_run(folder, run)
        check_frames(facts, label, f"watch it with: roamcast replay {folder}/run={run} --serve")
        recordings.append(Recording(facts, label))
    page = make_viewer(recordings).encode()
    Path(target).write_bytes(page)
    return len(page)


def check_frames(facts: Facts, label: str, advice: str) -> None:
    """Raise UserError with `advice` if a run is too large for a file."""
    frames = len(facts["transmissions"])
    if frames > MOST_FRAMES:
        raise UserError(f"{label}: {frames:,} transmissions, expected at most {MOST_FRAMES:,}; {advice}")


def write_csv(folder: str, table: str, target: str) -> int:
    """Write a table of a result as CSV to `target`; return its number of rows."""
    from pyarrow import csv

    if table not in TABLES:
        raise UserError(f"no table {table[:60]!r}")
    rows = ResultsFolder(folder).read_table(table)
    csv.write_csv(rows, target)
    return len(rows)
