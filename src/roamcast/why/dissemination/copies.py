"""Explain losses in protocols that send a copy of an event to each known subscriber.

A router's drop names the destination of the copy. A drop of the link names the next hop only, so it may
concern any node that missed the event and that no router's drop names; a cause is reported only if all these
copies ended for the same one. Copies that no row ends are counted: they still waited at the end of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from roamcast.why.causes import (
    DROP_CAUSES,
    FRAME_LOSSES,
    LINK_DROPS,
    RETRIES_ENDED,
    Cause,
    Diagnosis,
    describe_reason,
)
from roamcast.why.proofs.outages import describe
from roamcast.why.trail.trail import Trail, TrailDrop, TrailTransmission

UNDER_WAY = 1.0
"A copy sent at most this long before the end of the run may have been in transit then [s]."

HELD = 30.0
"Time for which routers hold a copy without a route [s]."

MOMENT = 0.1
"Time in which a router tries all routes that it knows [s]."

NOBODY_THERE = ("expired", "no_route", "retry_limit", "unresolved")
"Reasons for which a copy is dropped if its destination does not answer."

MAX_SENTENCES = 4
"Maximum number of drops that an explanation lists."


def follow_copies(trail: Trail, publication: int, node: int) -> Diagnosis:
    """Return the cause for which the copy for `node` was lost."""
    known = _never_subscribed(trail, publication, node) or _subscriber_was_off(trail, publication, node)
    if known is not None:
        return known
    ends = [
        lost
        for lost in trail.lost.get(publication, [])
        if lost.cause in DROP_CAUSES and not _of_another(trail, publication, node, lost)
    ]
    named = _last_end([lost for lost in ends if lost.cause not in LINK_DROPS], node)
    if named:
        return Diagnosis(_cause(trail, publication, named[0]), describe_drops(trail, publication, named))
    causes = {_cause(trail, publication, lost) for lost in ends}
    if causes:
        return _unnamed(trail, publication, node, ends, causes)
    for sent in reversed(trail.sent.get(publication, [])):
        if sent.to == node and sent.failed:
            sentence = f"t={sent.time:.3f} the link from node {sent.node} to node {node} {RETRIES_ENDED}"
            return Diagnosis(Cause.RETRY_LIMIT, [sentence])
    for lost in reversed(trail.lost.get(publication, [])):
        if lost.node == node and lost.cause in FRAME_LOSSES:
            sentence = f"t={lost.time:.3f} node {node} lost the frame of node {lost.peer}: {lost.cause}"
            return Diagnosis(FRAME_LOSSES[lost.cause], [sentence])
    return _on_its_way(trail, publication)


def _unnamed(
    trail: Trail, publication: int, node: int, ends: list[TrailDrop], causes: set[Cause]
) -> Diagnosis:
    """Return what ended the copy for `node`, if all rows that may concern it agree."""
    waiting = trail.waiting_copies(publication)
    if len(causes) == 1 and not waiting:
        return Diagnosis(causes.pop(), describe_drops(trail, publication, ends))
    story = describe_drops(trail, publication, ends)
    if waiting:
        count = sum(waiting.values())
        named = ", ".join(map(str, sorted(waiting)[:4])) + (" and others" if len(waiting) > 4 else "")
        story.append(
            f"{count} {'copies' if count > 1 else 'copy'} had no end: still waiting at node {named}"
            f" at t={trail.run.duration:.1f}"
        )
    if causes == {Cause.QUEUE_FULL} and not _crashed(trail, publication, waiting):
        return Diagnosis(
            Cause.OVERLOADED, [*story, f"the rows do not name the copy for node {node} among these"]
        )
    if not any(sent.node == node for sent in trail.sent.get(publication, [])):
        own = _last_end(ends, node)  # the node forwarded no copy, so a copy sent to it was probably its own
        if own:
            return Diagnosis(_cause(trail, publication, own[0]), describe_drops(trail, publication, own))
    return Diagnosis(
        Cause.UNEXPLAINED,
        [*story, f"one of these copies was for node {node}; the facts do not record which"],
    )


def _crashed(trail: Trail, publication: int, nodes: Iterable[int]) -> bool:
    """Return whether a node that may have held a copy crashed after the publication."""
    published, end = trail.published[publication], trail.run.duration
    return any(trail.outages.forgot(node, published, end) is not None for node in nodes)


def _last_end(ends: list[TrailDrop], node: int) -> list[TrailDrop]:
    """Return the drop that ended the last attempt to send the copy for `node`; empty if no row names it.

    A router that tries several routes records a drop for each; a radio that was off explains all of them.
    """
    own = [lost for lost in ends if lost.peer == node]
    if not own:
        return []
    last = own[-1]
    moment = [lost for lost in own if lost.node == last.node and last.time - lost.time <= MOMENT]
    return [next((lost for lost in moment if lost.cause == "radio_off"), last)]


def _of_another(trail: Trail, publication: int, node: int, lost: TrailDrop) -> bool:
    """Return whether a router dropped the copy for another node, which missed the event as well."""
    by_router = lost.cause not in LINK_DROPS
    return by_router and lost.peer != node and (publication, lost.peer) in trail.missed


def _subscriber_was_off(trail: Trail, publication: int, node: int) -> Diagnosis | None:
    """Return a diagnosis if the copy was dropped for want of a route or link while `node` had an outage."""
    ends = _last_end([lost for lost in trail.lost.get(publication, []) if lost.cause in DROP_CAUSES], node)
    if not ends or ends[0].cause not in NOBODY_THERE:
        return None
    outage = trail.outages.during(node, ends[0].time, ends[0].time)
    if outage is None:
        return None
    story = [*describe_drops(trail, publication, ends), describe(node, outage)]
    return Diagnosis(Cause.SUBSCRIBER_OFF, story)


def describe_drops(trail: Trail, publication: int, ends: list[TrailDrop]) -> list[str]:
    """Return a sentence for each distinct drop of a copy, at most `MAX_SENTENCES` of them."""
    counts = Counter(_ended(trail, publication, lost) for lost in ends)
    sentences = [f"{end} ({times} copies)" if times > 1 else end for end, times in counts.items()]
    return [
        *sentences[:MAX_SENTENCES],
        *(
            [f"and {len(sentences) - MAX_SENTENCES} more drops of copies"]
            if len(sentences) > MAX_SENTENCES
            else []
        ),
    ]


def _ended(trail: Trail, publication: int, lost: TrailDrop) -> str:
    reason = "it waited for a route until its timeout" if _timed_out(lost) else describe_reason(lost.cause)
    sentence = f"t={lost.time:.3f} node {lost.node}: {reason}"
    failed = [
        sent
        for sent in trail.sent.get(publication, [])
        if sent.failed and sent.node == lost.node and sent.time <= lost.time
    ]
    return f"{sentence}, after the link to node {failed[-1].to} {RETRIES_ENDED}" if failed else sentence


def _cause(trail: Trail, publication: int, lost: TrailDrop) -> Cause:
    cause = Cause.NO_ROUTE if _timed_out(lost) else DROP_CAUSES[lost.cause]
    at_publisher = lost.node == trail.publisher(publication)
    return Cause.PUBLISHER_OFF if cause is Cause.RELAY_OFF and at_publisher else cause


def _timed_out(lost: TrailDrop) -> bool:
    """Return whether a copy expired on its way to a destination, and not the destination's subscription."""
    return lost.cause == "expired" and lost.peer >= 0


def _never_subscribed(trail: Trail, publication: int, node: int) -> Diagnosis | None:
    """Return a diagnosis if the protocol sends subscriptions and `node` had not sent one in time."""
    if not trail.subscriptions:
        return None
    time = trail.published[publication]
    if any(sent.time <= time for sent in trail.subscriptions.get(node, [])):
        return None
    return Diagnosis(Cause.NO_PARENT, [f"node {node} had sent no subscription before t={time:.1f}"])


def _on_its_way(trail: Trail, publication: int) -> Diagnosis:
    """Explain a copy without a recorded drop: in transit at the end, or held by a node that crashed."""
    copies: list[TrailTransmission] = trail.sent.get(publication, [])
    end, publisher = trail.run.duration, trail.publisher(publication)
    if not copies:
        return _never_sent(trail, publication)
    last = copies[-1].time
    story = [f"it was sent {len(copies)} times, the last at t={last:.1f}"]
    if last + UNDER_WAY >= end:
        return Diagnosis(Cause.UNFINISHED, story)
    for sent in reversed(copies):
        holder = sent.node if sent.failed or sent.to < 0 else sent.to
        crashed = trail.outages.forgot(holder, sent.time, end)
        if crashed is not None and not any(each.node == holder and each.time > sent.time for each in copies):
            sentence = f"node {holder} held it from t={sent.time:.3f} and crashed at t={crashed:.1f}"
            return Diagnosis(Cause.RELAY_OFF, [*story, sentence])
    crashed = trail.outages.forgot(publisher, trail.published[publication], last + HELD)
    if crashed is not None:
        sentence = f"node {publisher} crashed at t={crashed:.1f} and lost the copies that waited for a route"
        return Diagnosis(Cause.PUBLISHER_OFF, [*story, sentence])
    if last + HELD >= end:
        return Diagnosis(Cause.UNFINISHED, [*story, "its copy was not dropped: it waited for a route"])
    return Diagnosis(Cause.UNEXPLAINED, [*story, "no row records what happened to the last copy"])


def _never_sent(trail: Trail, publication: int) -> Diagnosis:
    """Explain an event of which no node sent a copy."""
    publisher = trail.publisher(publication)
    crashed = trail.outages.forgot(publisher, trail.published[publication], trail.run.duration)
    if crashed is not None:
        return Diagnosis(
            Cause.PUBLISHER_OFF, [f"t={crashed:.1f} node {publisher} crashed before it sent the event"]
        )
    if not trail.subscriptions and trail.published[publication] + HELD >= trail.run.duration:
        return Diagnosis(Cause.UNFINISHED, [f"no row ends its copy: it waited at node {publisher}"])
    return Diagnosis(Cause.UNEXPLAINED, ["no node sent it, and no row records why"])
