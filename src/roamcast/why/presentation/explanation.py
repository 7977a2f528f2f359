"""The explanation of one event at one node, or of one request, as a list of sentences."""

from __future__ import annotations

from roamcast.facts.tables import Facts, FactsError
from roamcast.why.causes import FRAME_LOSSES, Diagnosis
from roamcast.why.explainer import Explainer
from roamcast.why.presentation.names import name_publication
from roamcast.why.presentation.results import Explanation
from roamcast.why.request_explainer import RequestExplainer
from roamcast.why.trail.trail import Trail, TrailTransmission

HOPS = 64
"Maximum number of hops of a reported route."


def explain_event(facts: Facts, publication: int, node: int) -> Explanation:
    """Explain the delivery or the loss of one event at one node."""
    trail = Trail(facts)
    _check(trail, publication, node)
    time, name = trail.published[publication], name_publication(publication)
    story = [
        f"t={time:.3f} node {trail.publisher(publication)} published {trail.contents[publication]} as {name}"
    ]
    expected = (publication, node) in set(trail.expected)
    period = trail.matching_subscription(publication, node) if expected else None
    if period is not None:
        story.append(f"node {node} had subscribed to {period.wanted} at t={period.since:.1f}")
    wanted = period.wanted if period is not None else ""
    delivered = trail.delivered.get((publication, node))
    if delivered is not None:
        story += _route(trail, publication, node, delivered)
        extra = " after its publication"
        extra += "" if expected else ", although no interest of the node matched it at that time"
        story.append(f"t={delivered:.3f} node {node} received it, {delivered - time:.3f} s{extra}")
        return Explanation(about=name, node=node, wanted=wanted, outcome="delivered", story=story)
    if not expected:
        story.append(f"no interest of node {node} matched it, and it was not delivered there")
        return Explanation(about=name, node=node, wanted=wanted, outcome="unwanted", story=story)
    verdict = Explainer(trail).explain(publication, node)
    story += [*verdict.story, f"so it was lost: {_conclusion(verdict)}"]
    return Explanation(
        about=name,
        node=node,
        wanted=wanted,
        outcome="lost",
        cause=verdict.cause.key,
        proven=verdict.proven,
        story=story,
    )


def explain_request(facts: Facts, number: int) -> Explanation:
    """Explain the outcome of one request."""
    trail = Trail(facts)
    request = next((each for each in trail.requests if each.request == number), None)
    name = name_publication(number)
    if request is None:
        known = sorted(each.request for each in trail.requests)
        there = (
            f"the run has {len(known)}, for example {name_publication(known[0])}"
            if known
            else "the run has no requests"
        )
        raise FactsError(f"there is no request {name}; {there}")
    explainer = RequestExplainer(trail)
    story = [f"t={request.time:.3f} node {request.node} requested {request.wanted} as {name}"]
    verdict = None
    if request.outcome == "satisfied":
        story += explainer.explain_delay(request)
    else:
        verdict = explainer.explain(request)
        story += [*verdict.story, f"so it was not satisfied ({request.outcome}): {_conclusion(verdict)}"]
    return Explanation(
        about=name,
        node=request.node,
        wanted=request.wanted,
        outcome=request.outcome,
        cause=verdict.cause.key if verdict is not None else "",
        proven=verdict is not None and verdict.proven,
        story=story,
    )


def _conclusion(verdict: Diagnosis) -> str:
    return f"{verdict.cause.value}{' (proven, independent of the protocol)' if verdict.proven else ''}"


def _check(trail: Trail, publication: int, node: int) -> None:
    if publication not in trail.published:
        known = [name_publication(each) for each in sorted(trail.published)]
        there = f"the run has {known[0]} to {known[-1]}" if known else "the run has no publications"
        raise FactsError(f"no event {name_publication(publication)} was published; {there}")
    if not 0 <= node < trail.run.nodes:
        raise FactsError(f"there is no node {node}; this run has nodes 0 to {trail.run.nodes - 1}")


def _route(trail: Trail, publication: int, node: int, delivered: float) -> list[str]:
    """Return a sentence for each hop of the route on which an event reached a node."""
    copies, time = trail.sent.get(publication, []), trail.published[publication]
    sentences = []
    for sent in route_of(trail, publication, node, delivered):
        again = any(other.node == sent.node and other.time < sent.time for other in copies)
        sentences.append(_hop(sent, sent.time - time, again))
    return sentences


def route_of(trail: Trail, publication: int, node: int, delivered: float) -> list[TrailTransmission]:
    """Return the transmissions by which an event reached a node, inferred from movement and losses."""
    copies = trail.sent.get(publication, [])
    losses = {
        (lost.node, lost.peer, lost.time)
        for lost in trail.lost.get(publication, [])
        if lost.cause in FRAME_LOSSES
    }
    hops: list[TrailTransmission] = []
    at, until = node, delivered
    while at != trail.publisher(publication) and len(hops) < HOPS:
        before = [sent for sent in copies if sent.time <= until and _hears(trail, at, sent, losses)]
        if not before:
            break
        # A node forwards the first broadcast copy that it receives, and each unicast copy on arrival.
        hop = before[-1] if before[-1].to == at else before[0]
        hops.append(hop)
        at, until = hop.node, hop.time
    return hops[::-1]


def _hears(trail: Trail, node: int, sent: TrailTransmission, losses: set[tuple[int, int, float]]) -> bool:
    """Return whether a node received a transmission, inferred from movement and losses."""
    if sent.failed or sent.node == node:
        return False
    if sent.to >= 0:
        return sent.to == node
    if trail.reach.distance(node, sent.node, sent.time) > trail.reach.range + trail.reach.edge:
        return False
    # A loss is recorded at the end of the frame, a few milliseconds after its start.
    return not any(
        n == node and peer == sent.node and 0 <= time - sent.time < 0.02 for n, peer, time in losses
    )


def _hop(sent: TrailTransmission, after: float, again: bool) -> str:
    whom = f"node {sent.to}" if sent.to >= 0 else "its neighbours"
    sent_it = "sent it again" if again else "sent it"
    passed = f"{after:.3f} s after publication"
    return f"t={sent.time:.3f} node {sent.node} {sent_it} to {whom} ({sent.kind}, {passed})"
