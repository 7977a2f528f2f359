"""Find where a flooded event stopped on its way to a node.

The search starts at the node that missed the event and visits its neighbours in rings, until it meets nodes
that had the event. Between the two sets each copy stopped for a reason: a frame was lost, no node was in
range of the sender, or a router dropped it. The reasons nearest to the node are reported.
"""

from __future__ import annotations

from collections import Counter

from roamcast.why.causes import DROP_CAUSES, FRAME_LOSSES, RETRIES_ENDED, Cause, Diagnosis, describe_reason
from roamcast.why.proofs.outages import describe
from roamcast.why.trail.trail import Trail, TrailDrop

MAX_SENTENCES = 3
"Maximum number of sentences per cause; further ones are counted."


def find_frontier(trail: Trail, publication: int, node: int) -> Diagnosis:
    """Return the most frequent cause at the border that is nearest to `node`."""
    start, end = trail.published[publication], trail.last_sent(publication)
    holders = trail.holders[publication]
    seen, ring, hops = {node}, [node], 0
    while ring:
        around = _around(trail, ring, start, end)
        found = _reasons(trail, publication, ring, around & holders)
        if found:
            far = [f"no node within range of node {node} sent it"] if hops else []
            return _weigh(found, [*far, *_lead(hops)])
        outside = around - holders - seen
        seen |= outside
        ring, hops = sorted(outside), hops + 1
    return Diagnosis(Cause.UNEXPLAINED, [f"no node within range of node {node} sent it"])


def _lead(hops: int) -> list[str]:
    if not hops:
        return []
    distance = "1 hop" if hops == 1 else f"{hops} hops"
    return [f"{distance} away, it stopped:"]


def _reasons(trail: Trail, publication: int, ring: list[int], beyond: set[int]) -> list[tuple[Cause, str]]:
    """Return the causes for which the nodes of a ring missed the event.

    The frames lost at the ring count; if there are none, the drops at its neighbours `beyond` that had it.
    """
    stops = trail.stops(publication)
    found = [
        (
            FRAME_LOSSES[lost.cause],
            f"t={lost.time:.3f} node {lost.node} lost the frame of node {lost.peer}: {lost.cause}",
        )
        for lost in stops.frame_losses(ring)
    ]
    found += [
        (
            Cause.RETRY_LIMIT,
            f"t={sent.time:.3f} the link from node {sent.node} to node {sent.to} {RETRIES_ENDED}",
        )
        for sent in stops.failures(ring)
    ]
    if found:
        return found
    inside = set(ring)
    return [reason for holder in sorted(beyond) for reason in _kept(trail, publication, holder, inside)]


def _around(trail: Trail, ring: list[int], start: float, end: float) -> set[int]:
    """Return the nodes within range of a ring at some time of an interval."""
    return set().union(*(trail.up.neighbours(each, start, end) for each in ring))


def _kept(trail: Trail, publication: int, holder: int, inside: set[int]) -> list[tuple[Cause, str]]:
    """Return why a node that had the event sent it to none of its neighbours in the ring."""
    stops = trail.stops(publication)
    copies = stops.copies.get(holder)
    if copies:
        for each in sorted(inside):
            outage = trail.outages.during(each, copies[0].time, copies[-1].time)
            if outage is not None:
                return [(Cause.RELAY_OFF, describe(each, outage))]
        last = copies[-1]
        in_range = trail.up.neighbours(holder, last.time, last.time) & inside
        if in_range:
            return []  # a node in range did nothing with the event, and no row records why
        return [(Cause.MOVED_AWAY, f"t={last.time:.3f} node {holder} sent it with no such node in range")]
    ended = stops.ended.get(holder)
    if ended:
        return [_ended(trail, publication, lost) for lost in ended]
    outage = trail.outages.during(holder, trail.published[publication], trail.last_sent(publication))
    if outage is not None:
        cause = Cause.PUBLISHER_OFF if holder == trail.publisher(publication) else Cause.RELAY_OFF
        return [(cause, describe(holder, outage))]
    return []


def _ended(trail: Trail, publication: int, lost: TrailDrop) -> tuple[Cause, str]:
    cause = DROP_CAUSES[lost.cause]
    if cause is Cause.RELAY_OFF and lost.node == trail.publisher(publication):
        cause = Cause.PUBLISHER_OFF
    return cause, f"t={lost.time:.3f} node {lost.node}: {describe_reason(lost.cause)}"


def _weigh(found: list[tuple[Cause, str]], lead: list[str]) -> Diagnosis:
    """Return the most frequent cause with `MAX_SENTENCES` of its sentences, and the counts of the others."""
    counts = Counter(cause for cause, _ in found)
    cause, times = counts.most_common(1)[0]
    story = [sentence for each, sentence in found if each is cause][:MAX_SENTENCES]
    more = [f"and {times - MAX_SENTENCES} more with this cause"] if times > MAX_SENTENCES else []
    others = [f"also: {other.value} ({count})" for other, count in counts.items() if other is not cause]
    return Diagnosis(cause, [*lead, *story, *more, *others])
