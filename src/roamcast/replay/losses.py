"""Losses: why each event that a node missed did not arrive, as `roamcast why` says it."""

from __future__ import annotations

from typing import NamedTuple

from roamcast.facts.tables import Facts, FactsError
from roamcast.why.explainer import Explainer
from roamcast.why.request_explainer import RequestExplainer
from roamcast.why.trail.trail import Trail

MOST_EXPLAINED = 3_000_000
"Transmissions of a run whose losses are all explained when a file is written."

MOST_SERVED = 500_000
"The same for a run that is read in parts; in a larger one the losses of an event are explained on demand."

MOST_LOSSES = 250_000
"Losses of a run that are all explained: half a minute of processor time, and 30 MB of sentences in a file."


class Loss(NamedTuple):
    """An event and a node that expected it and did not get it."""

    publication: int
    node: int
    cause: str
    "In a sentence."
    proven: bool
    story: list[str]


class Losses(NamedTuple):
    """The losses of a run, those before the warm-up included."""

    events: list[Loss]
    requests: dict[int, tuple[str, list[str]]]
    "Of each request that was not satisfied the cause and the sentences that lead to it."
    unavailable: str = ""
    "Why there are none, if these facts do not allow explanations."
    later: bool = False
    "Whether the run is so large that losses are explained when their event is chosen."


TOO_MANY = Losses([], {}, later=True)


def explain_losses(facts: Facts, sent: int, most: int = MOST_EXPLAINED) -> Losses:
    """Explain every missed delivery and unsatisfied request, if at most `most` messages were `sent`.

    A run with more than `MOST_LOSSES` missed deliveries is too large as well.
    """
    if sent > most:
        return TOO_MANY
    try:
        trail = Trail(facts)
        explainer, asking = Explainer(trail), RequestExplainer(trail)
        missed = [pair for pair in trail.expected if pair not in trail.delivered]
        if len(missed) > MOST_LOSSES:
            return TOO_MANY
        events = [explain_loss(explainer, *pair) for pair in missed]
        requests = {}
        for request in trail.requests:
            if request.outcome != "satisfied":
                verdict = asking.explain(request)
                requests[request.request] = (verdict.cause.value, verdict.story)
        return Losses(events, requests)
    except FactsError as error:
        return Losses([], {}, str(error))


def explain_loss(explainer: Explainer, publication: int, node: int) -> Loss:
    """Return why a node did not get an event."""
    verdict = explainer.explain(publication, node)
    return Loss(publication, node, verdict.cause.value, verdict.proven, verdict.story)
