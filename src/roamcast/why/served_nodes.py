"""Served nodes: why an event did not come to a node that another one asks and receives for.

The event goes to the serving node first, and from there to whoever waits. So it is asked whether the server
had it; if it had, what it did with it, and if it had not, what became of its copy or of the wish for it.
"""

from __future__ import annotations

from bisect import bisect_left

from roamcast.why.causes import ENDS, Cause, Diagnosis, describe_reason
from roamcast.why.reverse_path import dropped_at
from roamcast.why.trail import SubscriptionPeriod, Trail, TrailDrop, TrailTransmission

TRAVEL = 2.0
"Seconds within which a wish that goes from node to node without waiting is there, or lost."


def follow_service(trail: Trail, publication: int, node: int, wish: SubscriptionPeriod) -> Diagnosis:
    """Why `node`, which another serves, did not get an event that it wanted."""
    published = trail.published[publication]
    server = trail.server(node, published)
    by = "itself" if server == node else f"node {server}"
    if server in trail.holders[publication]:
        told = _handed_on(trail, publication, node, server)
    else:
        told = (
            _lost_copy(trail, publication, server)
            or _dropped_subscription(trail, publication, server, wish)
            or _unsent_subscription(trail, publication, node, server, wish)
        )
    return Diagnosis(told.cause, [f"t={published:.3f} node {node} was served by {by}", *told.story])


def _handed_on(trail: Trail, publication: int, node: int, server: int) -> Diagnosis:
    """The server had it: what it did with it."""
    copies = [sent for sent in trail.sent.get(publication, []) if sent.node == server]
    kept = dropped_at(trail, publication, server)
    if kept is not None and kept.cause in ENDS and (not copies or kept.time > copies[-1].time):
        return Diagnosis(
            ENDS[kept.cause], [f"t={kept.time:.3f} node {server}: {describe_reason(kept.cause)}"]
        )
    for copy in copies:
        if copy.failed:
            gave_up = f"t={copy.time:.3f} the link from node {server} to node {copy.to} gave up"
            return Diagnosis(Cause.RETRY_LIMIT, [gave_up])
    if copies:
        named = ", ".join(str(to) for to in sorted({copy.to for copy in copies if copy.to >= 0})[:6])
        return Diagnosis(
            Cause.NOT_MEANT, [f"node {server} passed it on to nodes {named}, but not to node {node}"]
        )
    return Diagnosis(Cause.UNEXPLAINED, [f"node {server} had it, and no row tells what it did with it"])


def _lost_copy(trail: Trail, publication: int, server: int) -> Diagnosis | None:
    """What became of the copy for the server, if one was sent."""
    for lost in reversed(trail.lost.get(publication, [])):
        if lost.peer == server and lost.cause in ENDS:
            return Diagnosis(ENDS[lost.cause], [f"{_told(lost)}; it was for node {server}"])
    for sent in reversed(trail.sent.get(publication, [])):
        if sent.to == server and sent.failed:
            gave_up = f"t={sent.time:.3f} the link from node {sent.node} to node {server} gave up"
            return Diagnosis(Cause.RETRY_LIMIT, [gave_up])
    return None


def _dropped_subscription(
    trail: Trail, publication: int, server: int, wish: SubscriptionPeriod
) -> Diagnosis | None:
    """No copy for the server is known: where a wish of it was let go."""
    publisher = trail.publisher(publication)
    rows = trail.unheeded[bisect_left(trail.unheeded, (wish.since,)) :]
    refused = [lost for lost in rows if lost.time <= wish.until and lost.cause in ENDS]
    for lost in refused:
        if lost.node == server:
            return Diagnosis(ENDS[lost.cause], [f"{_told(lost)}, of a wish"])
    sent = _tellings(trail, server, wish)
    for lost in refused:
        if lost.peer == publisher and any(0 <= lost.time - each.time <= TRAVEL for each in sent):
            way = f"of a wish for node {publisher}, just after one of node {server}"
            return Diagnosis(ENDS[lost.cause], [f"{_told(lost)}, {way}"])
    return None


def _unsent_subscription(
    trail: Trail, publication: int, node: int, server: int, wish: SubscriptionPeriod
) -> Diagnosis:
    """No row tells that a wish was let go: who had not told it, or too late."""
    own, sent = _tellings(trail, node, wish), _tellings(trail, server, wish)
    if server != node and all(each.failed for each in own):
        if not own:
            return Diagnosis(Cause.NO_PARENT, [f"node {node} told nobody what it wants"])
        gave_up = f"t={own[0].time:.3f} the link from node {node} to node {own[0].to} gave up on its wish"
        return Diagnosis(Cause.RETRY_LIMIT, [gave_up])
    if not sent:
        return Diagnosis(Cause.NO_PARENT, [f"node {server} told no provider what is wanted"])
    if all(each.time > trail.published[publication] for each in sent):
        later = f"t={sent[0].time:.3f} node {server} told what is wanted, after it had been published"
        return Diagnosis(Cause.NOT_YET_KNOWN, [later])
    searches = [each for each in trail.sent.get(publication, []) if each.to < 0]
    if searches:
        looked = (
            f"t={searches[0].time:.3f} node {searches[0].node} looked for one that was not where it had been"
        )
        return Diagnosis(Cause.MOVED_AWAY, [looked])
    return Diagnosis(
        Cause.UNEXPLAINED, [f"node {server} told what is wanted; no row tells what became of that"]
    )


def _tellings(trail: Trail, node: int, wish: SubscriptionPeriod) -> list[TrailTransmission]:
    """What a node told of wishes while one was open."""
    return [each for each in trail.told.get(node, []) if wish.since <= each.time <= wish.until]


def _told(lost: TrailDrop) -> str:
    return f"t={lost.time:.3f} node {lost.node}: {describe_reason(lost.cause)}"
