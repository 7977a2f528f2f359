"""Why a request was not satisfied, or what took so long."""

from __future__ import annotations

from functools import lru_cache
from math import isnan

from roamcast.facts.tables import FactsError
from roamcast.why.causes import Cause, Diagnosis
from roamcast.why.names import name_publication
from roamcast.why.trail import SubscriptionPeriod, Trail, TrailRequest
from roamcast.why.why import Explainer


class RequestExplainer:
    """Answers for the requests of one run."""

    def __init__(self, trail: Trail) -> None:
        self.trail = trail
        self._explainer = Explainer(trail)
        self._timeouts = _timeouts(trail)
        self._wanted = lru_cache(maxsize=4096)(self._find_wanted)

    def failures(self) -> list[TrailRequest]:
        """The requests made after the warm-up that were not satisfied."""
        return [each for each in self.counted() if each.outcome != "satisfied"]

    def counted(self) -> list[TrailRequest]:
        """The requests made after the warm-up."""
        return [each for each in self.trail.requests if each.time >= self.trail.run.warmup]

    def end(self, request: TrailRequest) -> float:
        """When a request ended, as well as the facts tell."""
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
        """Why a request was not satisfied."""
        trail, end = self.trail, self.end(request)
        matches = self._matches(request)
        meanwhile = [p for p in matches if request.time <= trail.published[p] <= end]
        before = [p for p in matches if trail.published[p] < request.time]
        if request.outcome == "abandoned":
            crashed = f"t={end:.1f} node {request.node} crashed, and with it who asked"
            return Diagnosis(Cause.SUBSCRIBER_OFF, [crashed], proven=True)
        late = self._late(request, matches, end)
        if late is not None:
            return late
        if not meanwhile:
            return self._unpublished(request, before, end)
        publication, verdict = self._most_telling(meanwhile, request, end)
        count = f"{len(meanwhile)} matches were" if len(meanwhile) > 1 else "one match was"
        named = f"t={trail.published[publication]:.3f} {name_publication(publication)} by node"
        story = [
            f"{count} published before it ended at t={end:.1f}; of the one at {named}"
            f" {trail.publisher(publication)}:",
            *verdict.story,
        ]
        return Diagnosis(verdict.cause, story, verdict.proven)

    def explain_delay(self, request: TrailRequest) -> list[str]:
        """What took how long until a request was satisfied."""
        published = self.trail.published[request.publication]
        name, took = name_publication(request.publication), request.answered - request.time
        if published >= request.time:
            waited = published - request.time
            story = [
                f"t={published:.3f} a match was published as {name}, {waited:.3f} s after it was asked for"
            ]
        else:
            story = [f"a copy of {name} was there, published {request.time - published:.3f} s before"]
        return [
            *story,
            f"t={request.answered:.3f} node {request.node} got it, {took:.3f} s after it had asked",
        ]

    def _matches(self, request: TrailRequest) -> list[int]:
        """The publications of others that a request would have been satisfied by."""
        return [p for p in self._wanted(request.wanted) if self.trail.publisher(p) != request.node]

    def _find_wanted(self, wanted: str) -> list[int]:
        trail = self.trail
        return [p for p, event in trail.contents.items() if trail.matcher.matches(wanted, event)]

    def _most_telling(self, missed: list[int], request: TrailRequest, end: float) -> tuple[int, Diagnosis]:
        """The first publication that need not have been missed, best with a cause, and what became of it."""
        found: tuple[int, Diagnosis] | None = None
        for publication in missed:
            verdict = self._miss(publication, request, end)
            if not verdict.proven and verdict.cause is not Cause.UNEXPLAINED:
                return publication, verdict
            if found is None or (found[1].proven and not verdict.proven):
                found = publication, verdict
        assert found is not None, "asked of at least one"
        return found

    def _miss(self, publication: int, request: TrailRequest, end: float) -> Diagnosis:
        wish = SubscriptionPeriod(request.wanted, request.time, end)
        return self._explainer.explain(publication, request.node, until=end, wish=wish)

    def _late(self, request: TrailRequest, matches: list[int], end: float) -> Diagnosis | None:
        """A match that was published in time, and came too late."""
        trail = self.trail
        came = [
            (time, publication)
            for publication in matches
            if trail.published[publication] <= end
            and (time := trail.delivered.get((publication, request.node), -1.0)) > end
        ]
        if not came:
            return None
        time, publication = min(came)
        return Diagnosis(
            Cause.LATE,
            [
                f"the request ended at t={end:.3f}",
                f"t={time:.3f} {name_publication(publication)} came, {time - end:.3f} s after that",
            ],
            proven=True,
        )

    def _unpublished(self, request: TrailRequest, before: list[int], end: float) -> Diagnosis:
        story = [f"nobody published a match from t={request.time:.1f} to t={end:.1f}, when it ended"]
        if before:
            last = before[-1]
            story.append(
                f"{len(before)} had been published before, the last as {name_publication(last)} at"
                f" t={self.trail.published[last]:.1f}; no copy of one came"
            )
        return Diagnosis(Cause.UNPUBLISHED, story, proven=not before)


def _timeouts(trail: Trail) -> dict[int, float]:
    """How long each node waits for an answer, as the scenario says."""
    found: dict[int, float] = {}
    first = 0
    try:
        requesting = trail.run.resolved["workload"].get("request", {})
        for group, told in trail.run.resolved.get("nodes", {}).items():
            for name in ("*", group):
                if name in requesting:
                    timeout = float(requesting[name]["timeout"])
                    found |= dict.fromkeys(range(first, first + told["count"]), timeout)
            first += told["count"]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise FactsError("these facts do not tell how long those who ask wait for an answer") from None
    return found
