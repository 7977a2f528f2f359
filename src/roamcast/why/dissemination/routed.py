"""Explain losses in protocols that route events along routes set up by flooded subscriptions.

Every node repeats a subscription and may become part of the reverse path, and the rows do not record which
route was chosen. So the search checks first whether the subscription can have been known, then what the
publisher did with the event, and then where the event came nearest to the node that missed it.
"""

from __future__ import annotations

import numpy as np

from roamcast.why.causes import DROP_CAUSES, Cause, Diagnosis, describe_reason
from roamcast.why.dissemination.frontier import FloodSearch
from roamcast.why.dissemination.reverse_path import dropped_at
from roamcast.why.trail.trail import Trail

PAUSE = 0.5
"A flood of a subscription has ended after this time without subscription messages [s]."


def follow_routes(search: FloodSearch, publication: int, node: int) -> Diagnosis:
    """Return why `node` did not receive an event that should have been routed to it."""
    trail = search.trail
    published, publisher = trail.published[publication], trail.publisher(publication)
    period = trail.matching_subscription(publication, node)
    since = period.since if period is not None else 0.0
    subscribed = next((sent.time for sent in trail.subscriptions.get(node, []) if sent.time >= since), None)
    if subscribed is None or subscribed > published:
        return Diagnosis(Cause.NO_PARENT, [f"node {node} had sent no subscription before t={published:.3f}"])
    story = [f"t={subscribed:.3f} node {node} sent its subscription"]
    end = _end_of_flood(trail, subscribed)
    if published <= end:
        sentence = f"its flood lasted until t={end:.3f}; the event was published at t={published:.3f}"
        return Diagnosis(Cause.NOT_YET_KNOWN, [*story, sentence])
    drop = dropped_at(trail, publication, publisher)
    if drop is not None and not any(sent.node == publisher for sent in trail.sent.get(publication, [])):
        return Diagnosis(
            DROP_CAUSES[drop.cause],
            [*story, f"t={drop.time:.3f} node {publisher}: {describe_reason(drop.cause)}"],
        )
    frontier = search.find(publication, node)
    if frontier.cause is not Cause.UNEXPLAINED:
        return frontier
    copies = trail.sent.get(publication, [])
    if not copies:
        return Diagnosis(Cause.UNEXPLAINED, [*story, "no node sent it, and no row records why"])
    senders = sorted({sent.node for sent in copies})
    named = ", ".join(map(str, senders[:6])) + (" and others" if len(senders) > 6 else "")
    return Diagnosis(Cause.NOT_MEANT, [*story, f"nodes {named} forwarded it, but not to node {node}"])


def _end_of_flood(trail: Trail, subscribed: float) -> float:
    """Return when the flood of subscriptions that began at `subscribed` ended [s].

    The flood ends with the last subscription message before a pause longer than `PAUSE`.
    """
    times = trail.subscription_times[trail.subscription_times.searchsorted(subscribed) :]
    pauses = np.flatnonzero(times[1:] > times[:-1] + PAUSE)
    return float(times[pauses[0] if len(pauses) else -1])
