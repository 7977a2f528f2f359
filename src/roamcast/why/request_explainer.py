"""Explain why a request was not satisfied, or the delay of a satisfied one."""

from __future__ import annotations

from functools import lru_cache
from math import isnan

from roamcast.facts.tables import FactsError
from roamcast.why.causes import Cause, Diagnosis
from roamcast.why.explainer import Explainer
from roamcast.why.presentation.names import name_publication
from roamcast.why.trail.context import SubscriptionPeriod
from roamcast.why.trail.trail import Trail, TrailRequest


class RequestExplainer:
    """Explains the requests of one run."""

    def __init__(self, trail: Trail) -> None:
        self.trail = trail
        self._explainer = Explainer(trail)
        self._timeouts = _timeouts(trail)
        self._wanted = lru_cache(maxsize=4096)(self._find_wanted)

    def failures(self) -> list[TrailRequest]:
        """Return the requests after the warm-up that were not satisfied."""
        return [each for each in self.counted() if each.outcome != "satisfied"]

    def counted(self) -> list[TrailRequest]:
        """Return the requests after the warm-up."""
        return [each for each in self.trail.requests if each.time >= self.trail.run.warmup]

    def end(self, request: TrailRequest) -> float:
        """Return when a request ended, as far as the facts record it [s]."""
        trail = self.trail
        if not isnan(request.answered):
            return request.answered
        if request.outcome == "abandoned":
            outages = trail.outages.of(request.node)
            return next((each.start for each in outages if each.start >= request.time), trail.run.duration)
        if request.outcome == "expired":
            return min(
                request.time + self._timeouts.get(request.node, trail.run.duration), trail.run.duration
            )
        return trail.run.duration

    def explain(self, request: TrailRequest) -> Diagnosis:
        """Return why a request was not satisfied."""
        trail, end = self.trail, self.end(request)
        matches = self._matches(request)
        meanwhile = [p for p in matches if request.time <= trail.published[p] <= end]
        before = [p for p in matches if trail.published[p] < request.time]
        if request.outcome == "abandoned":
            crashed = f"t={end:.1f} node {request.node} crashed, which ended its request"
            return Diagnosis(Cause.SUBSCRIBER_OFF, [crashed], proven=True)
        late = self._late(request, matches, end)
        if late is not None:
            return late
        if not meanwhile:
            return self._unpublished(request, before, end)
        publication, verdict = self._best_explained(meanwhile, request, end)
        count = f"{len(meanwhile)} matching events were" if len(meanwhile) > 1 else "1 matching event was"
        story = [
            f"{count} published before the request ended at t={end:.1f}; explained here:"
            f" {name_publication(publication)}, published by node {trail.publisher(publication)} at"
            f" t={trail.published[publication]:.3f}",
            *verdict.story,
        ]
        return Diagnosis(verdict.cause, story, verdict.proven)

    def explain_delay(self, request: TrailRequest) -> list[str]:
        """Return sentences on the delays until a request was satisfied."""
        published = self.trail.published[request.publication]
        name, took = name_publication(request.publication), request.answered - request.time
        if published >= request.time:
            waited = published - request.time
            story = [
                f"t={published:.3f} a matching event was published as {name},"
                f" {waited:.3f} s after the request"
            ]
        else:
            age = request.time - published
            story = [f"a copy of {name} satisfied it, published {age:.3f} s before the request"]
        return [
            *story,
            f"t={request.answered:.3f} node {request.node} received it, {took:.3f} s after the request",
        ]

    def _matches(self, request: TrailRequest) -> list[int]:
        """Return the publications of other nodes that match a request."""
        return [p for p in self._wanted(request.wanted) if self.trail.publisher(p) != request.node]

    def _find_wanted(self, wanted: str) -> list[int]:
        trail = self.trail
        return [p for p, event in trail.contents.items() if trail.matcher.matches(wanted, event)]

    def _best_explained(self, missed: list[int], request: TrailRequest, end: float) -> tuple[int, Diagnosis]:
        """Return the publication that explains a request best, with its diagnosis.

        This is the first one with a known, unproven cause; else the first unproven one; else the first.
        """
        found: tuple[int, Diagnosis] | None = None
        for publication in missed:
            verdict = self._miss(publication, request, end)
            if not verdict.proven and verdict.cause is not Cause.UNEXPLAINED:
                return publication, verdict
            if found is None or (found[1].proven and not verdict.proven):
                found = publication, verdict
        assert found is not None, "`missed` must not be empty"
        return found

    def _miss(self, publication: int, request: TrailRequest, end: float) -> Diagnosis:
        period = SubscriptionPeriod(request.wanted, request.time, end)
        return self._explainer.explain(publication, request.node, until=end, period=period)

    def _late(self, request: TrailRequest, matches: list[int], end: float) -> Diagnosis | None:
        """Return a diagnosis if a match was published in time and delivered after the request ended."""
        trail = self.trail
        found = [
            (time, publication)
            for publication in matches
            if trail.published[publication] <= end
            and (time := trail.delivered.get((publication, request.node), -1.0)) > end
        ]
        if not found:
            return None
        time, publication = min(found)
        return Diagnosis(
            Cause.LATE,
            [
                f"the request ended at t={end:.3f}",
                f"t={time:.3f} {name_publication(publication)} arrived, {time - end:.3f} s after that",
            ],
            proven=True,
        )

    def _unpublished(self, request: TrailRequest, before: list[int], end: float) -> Diagnosis:
        story = [
            f"no matching event was published between t={request.time:.1f} and t={end:.1f},"
            " when the request ended"
        ]
        if before:
            last = before[-1]
            story.append(
                f"{len(before)} had been published before, the last as {name_publication(last)} at"
                f" t={self.trail.published[last]:.1f}; no copy of them arrived"
            )
        return Diagnosis(Cause.UNPUBLISHED, story, proven=not before)


def _timeouts(trail: Trail) -> dict[int, float]:
    """Return the request timeout of each node, from the resolved scenario [s]."""
    found: dict[int, float] = {}
    first = 0
    try:
        requesting = trail.run.resolved["workload"].get("request", {})
        for group, settings in trail.run.resolved.get("nodes", {}).items():
            for name in ("*", group):
                if name in requesting:
                    timeout = float(requesting[name]["timeout"])
                    found |= dict.fromkeys(range(first, first + settings["count"]), timeout)
            first += settings["count"]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise FactsError(
            "run.json: the request timeouts (workload.request) of the resolved scenario cannot be read"
        ) from None
    return found
