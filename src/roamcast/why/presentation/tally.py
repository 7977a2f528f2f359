"""Count the causes of all losses in one run or in many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from roamcast.facts.tables import Facts, FactsError
from roamcast.why.explainer import Explainer
from roamcast.why.presentation.names import name_publication
from roamcast.why.presentation.results import CauseTally, RunTally
from roamcast.why.request_explainer import RequestExplainer
from roamcast.why.trail.trail import Trail


def tally(facts: Facts) -> RunTally:
    """Return the causes of all losses and unsatisfied requests after the warm-up, most frequent first."""
    trail = Trail(facts)
    return RunTally(protocol=trail.run.protocol, events=_events(trail), requests=_requests(trail))


def _events(trail: Trail) -> CauseTally:
    explainer = Explainer(trail)
    expected = sum(trail.published[publication] >= trail.run.warmup for publication, _ in trail.expected)
    counted = CauseTally(expected=expected)
    for publication, node in trail.misses():
        verdict = explainer.explain(publication, node)
        counted.add(verdict.cause, verdict.proven, name_publication(publication), node)
    counted.sort()
    return counted


def _requests(trail: Trail) -> CauseTally:
    explainer = RequestExplainer(trail)
    counted = CauseTally(expected=len(explainer.counted()))
    for request in explainer.failures():
        verdict = explainer.explain(request)
        counted.add(verdict.cause, verdict.proven, name_publication(request.request), request.node)
    counted.sort()
    return counted


class ManyRuns:
    """The counts of causes in many runs, by protocol."""

    def __init__(self) -> None:
        self.protocols: dict[str, RunTally] = {}
        self.unreadable: dict[str, str] = {}
        "The error message of each run that could not be read, by its folder."

    def add(self, label: str, folder: str, counts: RunTally | str) -> None:
        """Add the counts of a run to those of `label`, or record its error message."""
        if isinstance(counts, str):
            self.unreadable[folder] = counts
            return
        known = self.protocols.get(label)
        if known is None:
            known = self.protocols[label] = RunTally(
                protocol=label, runs=0, events=CauseTally(), requests=CauseTally()
            )
        known.runs += 1
        known.events.merge(counts.events, folder)
        known.requests.merge(counts.requests, folder)


def tally_runs(
    runs: Iterable[tuple[str, str]],
    workers: int,
    progress: Callable[[int], object] = lambda done: None,
    read: Callable[[str], Facts] = Facts.read,
) -> ManyRuns:
    """Count the causes in all `runs`, pairs of a protocol's label and a facts folder, in parallel."""
    listed = list(runs)
    counted = ManyRuns()
    with ProcessPoolExecutor(max(1, min(workers, len(listed)))) as pool:
        tallies = pool.map(partial(_tally_one, read), [place for _, place in listed])
        for done, ((label, place), each) in enumerate(zip(listed, tallies, strict=True), 1):
            counted.add(label, place, each)
            progress(done)
    return counted


def _tally_one(read: Callable[[str], Facts], place: str) -> RunTally | str:
    try:
        return tally(read(place))
    except FactsError as error:
        return str(error)
