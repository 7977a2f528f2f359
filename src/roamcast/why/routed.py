"""Explain losses in protocols that route events along routes set up by flooded subscriptions.

Every node repeats a subscription and may become part of the reverse path, and the rows do not record which
route was chosen. So the search checks first whether the subscription can have been known, then what the
publisher did with the event, and then where the event came nearest to the node that missed it.
"""

from __future__ import annotations

from roamcast.why.causes import ENDS, Cause, Diagnosis, describe_reason
from roamcast.why.frontier import find_frontier
from roamcast.why.reverse_path import dropped_at
from roamcast.why.trail import Trail

PAUSE = 0.5
"A flood of a subscription has ended after this time without subscription messages [s]."


def follow_routes(trail: Trail, publication: int, node: int) -> Diagnosis:
    """Return why `node` did not receive an event that should have been routed to it."""
    published, publisher = trail.published[publication], trail.publisher(publication)
    wish = trail.matching_subscription(publication, node)
    since = wish.since if wish is not None else 0.0
    told = next((sent.time for sent in trail.told.get(node, []) if sent.time >= since), None)
    if told is None or told > published:
        return Diagnosis(Cause.NO_PARENT, [f"node {node} had sent no subscription before t={published:.3f}"])
    words = [f"t={told:.3f} node {node} sent its subscription"]
    over = _spread(trail, told)
    if published <= over:
        way = f"its flood lasted until t={over:.3f}; the event was published at t={published:.3f}"
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
        return Diagnosis(Cause.UNEXPLAINED, [*words, "no node sent it, and no row records why"])
    senders = sorted({sent.node for sent in copies})
    named = ", ".join(map(str, senders[:6])) + (" and others" if len(senders) > 6 else "")
    return Diagnosis(Cause.NOT_MEANT, [*words, f"nodes {named} forwarded it, but not to node {node}"])


def _spread(trail: Trail, told: float) -> float:
    """Return when the flood of subscriptions that began at `told` ended [s].

    The flood ends with the last subscription message before a pause longer than `PAUSE`.
    """
    last = told
    for time in trail.subscription_times[trail.subscription_times.searchsorted(told) :]:
        if time > last + PAUSE:
            break
        last = float(time)
    return last
