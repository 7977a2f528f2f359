"""Curves of a comparison, computed from the facts of its runs, a seed at a time, and kept in its folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from math import isfinite
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from roamcast.errors import UserError
from roamcast.lake.reading import read_columns
from roamcast.lake.storage import StorageUrl
from roamcast.metrics.run_curves import (
    BINS,
    COLUMNS,
    DELAYS,
    RunPairs,
    connectivity_over_time,
    delivered_over_time,
    delivered_within,
    load_over_time,
    mean_common_delays,
    pair_deliveries,
)
from roamcast.report.comparing.goals import DELAY_COMMON
from roamcast.results.intervals import interval

if TYPE_CHECKING:
    from roamcast.report.numbers import Row
    from roamcast.report.result import CampaignResult

FILE = "curves.json"
MOST_RUNS, MOST_ROWS = 2_000, 100_000_000
"Runs, and rows of facts, of a comparison above which curves are not computed."

_FORMAT = 2


class RunCurves(msgspec.Struct, kw_only=True):
    """The curves of one run."""

    seed: int
    protocol: str
    within: list[float] = []
    "Share of all expected pairs delivered within each of `DELAYS`."
    delivered: list[float | None] = []
    load: list[float] = []
    connectivity: list[float | None] = []
    "Of the seed: the same for all protocols."
    delay: float | None = None
    "Mean delay over the pairs that all protocols delivered [s]."


class PlaceCurves(msgspec.Struct, kw_only=True):
    """The curves of all runs at one point of a sweep."""

    sweep: str
    point: str
    duration: float
    runs: list[RunCurves]

    def of(self, protocol: str) -> list[RunCurves]:
        """Return the curves of a protocol, a seed each."""
        return [run for run in self.runs if run.protocol == protocol]


class ComparisonCurves(msgspec.Struct, kw_only=True):
    """The curves of a comparison, and a digest of the runs and the deadline they were computed for."""

    made_from: str
    places: list[PlaceCurves]

    def at(self, place: tuple[str, str]) -> PlaceCurves | None:
        """Return the curves at a point of a sweep, or None."""
        return next((each for each in self.places if (each.sweep, each.point) == place), None)


def read_curves(result: CampaignResult) -> ComparisonCurves | None:
    """Return the curves in the campaign's folder; None if there are none, or they are of other runs."""
    try:
        found = msgspec.json.decode(_file(result).read(), type=ComparisonCurves)
    except (OSError, ValueError):
        return None
    return found if found.made_from == digest_runs(result) and _whole(found) else None


def _whole(curves: ComparisonCurves) -> bool:
    """Whether all series have their length and values that can be drawn."""
    series = [
        (values, length)
        for place in curves.places
        for run in place.runs
        for values, length in (
            (run.within, len(DELAYS)),
            *((each, BINS) for each in (run.delivered, run.load, run.connectivity)),
        )
    ]
    finite = all(value is None or isfinite(value) for values, _ in series for value in values)
    sound = all(place.duration > 0 and isfinite(place.duration) for place in curves.places)
    return finite and sound and all(len(values) in (0, length) for values, length in series)


def write_curves(result: CampaignResult) -> None:
    """Compute the curves of a comparison and keep them, unless they are known or the runs are too many."""
    rows = {row["run"]: row["rows"] or 0 for row in result.tables["runs"]}
    too_many = len(rows) > MOST_RUNS or sum(rows.values()) > MOST_ROWS
    if result.campaign.claims or result.campaign.figures or result.stale or too_many or result.curves:
        return
    places = dict.fromkeys((row["sweep"], row["point"]) for row in result.tables["points"])
    curves = ComparisonCurves(made_from=digest_runs(result), places=[_compute(result, at) for at in places])
    _file(result).write(msgspec.json.encode(curves))
    result.curves = curves
    result.__dict__.pop("values", None)  # they include the delay of common deliveries


def _compute(result: CampaignResult, place: tuple[str, str]) -> PlaceCurves:
    points = [row for row in result.tables["points"] if (row["sweep"], row["point"]) == place]
    plan = {row["run"]: row for row in result.tables["plan"]}
    found: list[RunCurves] = []
    for seed in sorted({row["seed"] for row in points}):
        pairs: list[tuple[RunCurves, RunPairs]] = []
        connectivity: list[float | None] = []
        for row in (each for each in points if each["seed"] == seed):
            about = plan[row["run"]]
            try:
                tables = read_columns(str(result.store.folder), row["run"], COLUMNS)
            except UserError:  # the run failed or its facts are gone: draw the others
                continue
            curves = RunCurves(seed=seed, protocol=row["protocol"])
            curves.load = load_over_time(tables, about["duration"])
            found.append(curves)
            if (of_run := pair_deliveries(tables, about["warmup"])) is not None:
                if not connectivity and about["radio_range"]:
                    of = (about["nodes"], about["radio_range"], about["duration"])
                    connectivity = connectivity_over_time(tables, of_run, *of)
                curves.connectivity = connectivity
                curves.within = delivered_within(of_run)
                deadline = result.campaign.measure.deadline
                curves.delivered = delivered_over_time(of_run, about["duration"], deadline)
                if of_run.delivered.any():
                    pairs.append((curves, of_run))
        delays = mean_common_delays([of for _, of in pairs], result.campaign.measure.deadline)
        for (curves, _), delay in zip(pairs, delays or [], strict=False):
            curves.delay = delay
    duration = plan[points[0]["run"]]["duration"]
    return PlaceCurves(sweep=place[0], point=place[1], duration=duration, runs=found)


def common_delay_rows(curves: ComparisonCurves) -> Iterable[tuple[tuple[str, str, str, str], Row]]:
    """Yield sweep, point, protocol and metric with a row as in the table `summary`."""
    for place in curves.places:
        for protocol in dict.fromkeys(run.protocol for run in place.runs):
            delays = sorted(run.delay for run in place.of(protocol) if run.delay is not None)
            if delays:
                yield (
                    (place.sweep, place.point, protocol, DELAY_COMMON.name),
                    summarise_values(delays, DELAY_COMMON.scale),
                )


def summarise_values(values: list[float], scale: str) -> Row:
    """Return a row as in the table `summary` for sorted `values`, one a seed; `scale` as of a metric."""
    count, mean = len(values), fmean(values)
    deviation = stdev(values) if count > 1 else None
    row: dict[str, Any] = {"count": count, "mean": mean, "deviation": deviation, "trials": None}
    row |= {"least": values[0], "most": values[-1], "lower": None, "upper": None, "half": None}
    if deviation is not None:
        numbers = (np.array([each], np.float64) for each in (mean, deviation, count, np.nan))
        lower, upper = (float(end[0]) for end in interval(np.array([scale]), *numbers))
        row |= {"lower": lower, "upper": upper, "half": (upper - lower) / 2}
    return row


def digest_runs(result: CampaignResult) -> str:
    """Return a digest of the runs and the deadline from which curves are computed."""
    runs = sorted(row["run"] for row in result.tables["runs"] if row["status"] == "done")
    parts = [str(_FORMAT), str(result.campaign.measure.deadline), *runs]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def _file(result: CampaignResult) -> StorageUrl:
    return result.store.folder / FILE
