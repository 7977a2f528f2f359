"""Routes: why an event did not come along the route that a flood of wishes had laid.

A wish goes to everyone, and whoever repeats it may become the way back. The rows do not tell which route was
taken; so first it is asked whether the wish can have been known, then what the publisher did with the event,
and then where the event came nearest to the node that missed it.
"""

from __future__ import annotations

from roamcast.why.causes import ENDS, Cause, Diagnosis, describe_reason
from roamcast.why.frontier import find_frontier
from roamcast.why.reverse_path import dropped_at
from roamcast.why.trail import Trail

PAUSE = 0.5
"Seconds without any word of wishes after which a flood of one is over."


def follow_routes(trail: Trail, publication: int, node: int) -> Diagnosis:
    """Why `node` did not get an event that should have been routed to it."""
    published, publisher = trail.published[publication], trail.publisher(publication)
    wish = trail.matching_subscription(publication, node)
    since = wish.since if wish is not None else 0.0
    told = next((sent.time for sent in trail.told.get(node, []) if sent.time >= since), None)
    if told is None or told > published:
        return Diagnosis(
            Cause.NO_PARENT, [f"node {node} had not told what it wants before t={published:.3f}"]
        )
    words = [f"t={told:.3f} node {node} told what it wants"]
    over = _spread(trail, told)
    if published <= over:
        way = f"that went from node to node until t={over:.3f}; it was published at t={published:.3f}"
        return Diagnosis(Cause.NOT_YET_KNOWN, [*words, way])
    kept = dropped_at(trail, publication, publisher)
    if kept is not None and not any(sent.node == publisher for sent in trail.sent.get(publication, [])):
        return Diagnosis(
            ENDS[kept.cause], [*words, f"t={kept.time:.3f} node {publisher}: {describe_reason(kept.cause)}"]
        )
    frontier = find_frontier(trail, publication, node)
    if frontier.cause is not Cause.UNEXPLAINED:
        return frontier
    copies = trail.sent.get(publication, [])
    if not copies:
        return Diagnosis(Cause.UNEXPLAINED, [*words, "nobody sent it, and no row tells why"])
    senders = sorted({sent.node for sent in copies})
    named = ", ".join(map(str, senders[:6])) + (" and others" if len(senders) > 6 else "")
    return Diagnosis(Cause.NOT_MEANT, [*words, f"it was passed on by nodes {named}, but not to node {node}"])


def _spread(trail: Trail, told: float) -> float:
    """By when a flood of wishes that began at `told` was over: nobody spoke of wishes for a while."""
    last = told
    for time in trail.subscription_times[trail.subscription_times.searchsorted(told) :]:
        if time > last + PAUSE:
            break
        last = float(time)
    return last
