"""Causes of the losses of protocols in the worlds in which they break, counted by `why`.

Counts of a run are stored in the campaign's folder and read again the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from roamcast.lake.reading import read_facts
from roamcast.report.league.standings import LossCauses, Pair
from roamcast.report.result import CampaignResult
from roamcast.why.presentation.results import RunTally
from roamcast.why.presentation.tally import tally_runs

FILE = "causes.json"


def count_causes(
    result: CampaignResult,
    pairs: Iterable[Pair],
    workers: int,
    progress: Callable[[int], object] = lambda done: None,
) -> dict[Pair, LossCauses]:
    """Return the causes of all losses in the first seed of each pair, most frequent first."""
    done = {row["run"] for row in result.tables["runs"] if row["status"] == "done"}
    first: dict[Pair, tuple[int, str]] = {}
    for row in result.tables["points"]:
        pair = (row["sweep"], row["protocol"])
        if row["run"] in done and (pair not in first or row["seed"] < first[pair][0]):
            first[pair] = (row["seed"], row["run"])
    runs = {pair: first[pair][1] for pair in pairs if pair in first}
    known = _read(result)
    missing = sorted(set(runs.values()) - known.keys())
    if missing:
        folder = result.store.folder
        places = ((run, str(folder / f"run={run}")) for run in missing)
        known |= tally_runs(places, workers, progress, read_facts).protocols
        (folder / FILE).write(msgspec.json.encode(known))
    return {pair: _losses(known[run]) for pair, run in runs.items() if run in known}


def _losses(counted: RunTally) -> LossCauses:
    """Return the causes of lost events, or those of unsatisfied requests in a world of requests alone."""
    of = counted.events if counted.events.expected else counted.requests
    return LossCauses(of.missed, [(each.description, each.times) for each in of.causes])


def _read(result: CampaignResult) -> dict[str, RunTally]:
    file = result.store.folder / FILE
    try:
        return msgspec.json.decode(file.read(), type=dict[str, RunTally]) if file.exists() else {}
    except (OSError, ValueError):  # damaged, or written by other code: counted again
        return {}
