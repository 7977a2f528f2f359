"""Replay files of a comparison, and their index for the report."""

from __future__ import annotations

import sys
from collections import Counter
from statistics import fmean, median
from typing import TYPE_CHECKING

import msgspec

from roamcast.errors import UserError
from roamcast.lake.reading import read_run
from roamcast.replay.recording import Recording
from roamcast.replay.viewer import make_viewer
from roamcast.report.replay_index import FOLDER, INDEX, LossCause, RunReplay
from roamcast.why.causes import Cause
from roamcast.why.presentation.names import name_publication

if TYPE_CHECKING:
    from roamcast.report.result import CampaignResult

OUTLYING = 0.1
"Distance below the mean delivery rate at which a seed counts as an outlier, so that its causes are reported."

CHOICES = ("typical", "all")
PANES = 4
"Maximum number of protocols side by side in one file."

MOST_FRAMES = 1_000_000
"Maximum number of transmissions of a run written to a file; `roamcast replay --serve` has no such limit."


def write_replays(result: CampaignResult, protocols: list[str], *, whole: bool) -> None:
    """Write replays of the typical seed and of an outlier, or of all seeds if `whole`, and their index."""
    runs = {(row["seed"], row["protocol"]): row["run"] for row in result.tables["points"]}
    seeds = sorted({seed for seed, _ in runs})
    (result.store.folder / FOLDER).make_folder()
    written: list[RunReplay] = []
    some = {find_typical_seed(result, protocols, seeds), *find_outlier(result, protocols)} if seeds else set()
    for seed in seeds if whole else sorted(some):
        recordings = []
        for label in protocols:
            recording = _read(result, runs.get((seed, label)), label)
            if recording is not None:
                recordings.append((recording, runs[seed, label]))
        for part in range(0, len(recordings), PANES):
            shown = recordings[part : part + PANES]
            file = f"seed-{seed}{f'-{part // PANES + 1}' * (part > 0)}.html"
            page = make_viewer([recording for recording, _ in shown])
            (result.store.folder / FOLDER / file).write(page.encode())
            written += [
                _tell(recording, run, seed, file, pane) for pane, (recording, run) in enumerate(shown)
            ]
    (result.store.folder / FOLDER / INDEX).write(msgspec.json.encode(written))


def find_typical_seed(result: CampaignResult, protocols: list[str], seeds: list[int]) -> int:
    """Return the seed whose delivery rates are nearest to the protocols' medians."""
    far: Counter[int] = Counter(dict.fromkeys(seeds, 0))
    for sweep, point in {(row["sweep"], row["point"]) for row in result.tables["points"]}:
        for protocol in protocols:
            rates = result.by_seed(sweep, point, protocol, "delivery_rate")
            for seed in seeds:
                far[seed] += abs(rates[seed] - median(rates.values())) if seed in rates else 1  # type: ignore[assignment]
    return min(seeds, key=lambda seed: (far[seed], seed))


def find_outlier(result: CampaignResult, protocols: list[str]) -> list[int]:
    """Return the worst seed of the protocol that delivers most, if it is `OUTLYING` below the mean.

    Else [].
    """
    place = next(iter({(row["sweep"], row["point"]) for row in result.tables["points"]}))
    rates = [result.by_seed(*place, protocol, "delivery_rate") for protocol in protocols]
    best = max((each for each in rates if each), key=lambda each: fmean(each.values()), default={})
    worst = min(best, key=lambda seed: (best[seed], seed), default=None)
    if worst is None or best[worst] >= fmean(best.values()) - OUTLYING:
        return []
    return [worst]


def _read(result: CampaignResult, run: str | None, label: str) -> Recording | None:
    """Return a run's recording; None, with a warning, if it failed or is too large for a file."""
    try:
        if run is None:
            raise UserError(f"{label}: the run is missing")
        facts = read_run(str(result.store.folder), run)
        if len(facts["transmissions"]) > MOST_FRAMES:
            raise UserError(
                f"{label}: {len(facts['transmissions']):,} transmissions, expected at most {MOST_FRAMES:,}"
            )
        return Recording(facts, label)
    except UserError as error:
        print(f"roamcast: warning: no replay: {error}", file=sys.stderr)
        return None


def _tell(recording: Recording, run: str, seed: int, file: str, pane: int) -> RunReplay:
    table = recording.publications
    published = dict(zip(table["publication"].to_pylist(), table["time"].to_pylist(), strict=True))
    late = {each for each, time in published.items() if time >= recording.facts.run.warmup}
    expected = sum(each in late for each in recording.facts["expectations"]["publication"].to_pylist())
    causes: dict[str, LossCause] = {}
    for loss in recording.losses.events:
        if loss.publication not in late:
            continue
        event = name_publication(loss.publication)
        known = causes.setdefault(loss.cause, LossCause(says=loss.cause, event=event, node=loss.node))
        known.times += 1
        known.proven += loss.proven
    cut_off = causes.get(Cause.UNREACHABLE.value)
    ordered = sorted(causes.values(), key=lambda each: (-each.times, each.says))
    return RunReplay(
        protocol=recording.name,
        run=run,
        seed=seed,
        file=file,
        pane=pane,
        expected=expected,
        unreachable=cut_off.times if cut_off is not None else 0,
        causes=ordered,
    )
