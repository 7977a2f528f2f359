"""Copies: what became of copies that are sent to the nodes known to want them.

Facts tell of which event a copy was, not for whom. So each end of a copy may be that of any node that missed
the event; the facts tell a cause if all that may be its end have the same.
"""

from __future__ import annotations

from collections import Counter

from roamcast.why.causes import ENDS, FRAME_LOSSES, Cause, Diagnosis, describe_reason
from roamcast.why.trail import Trail, TrailDrop, TrailTransmission

UNDER_WAY = 1.0
"Seconds before the end of the run in which the last copy was sent, if it may have been under way then."

MOMENT = 0.1
"Seconds in which a router has tried all ways that it knows."

TOLD = 4
"Ends of copies that a story names."


def follow_copies(trail: Trail, publication: int, node: int) -> Diagnosis:
    """What became of the copy for `node`."""
    unheard = _unheard(trail, publication, node)
    if unheard is not None:
        return unheard
    ends = [lost for lost in trail.lost.get(publication, []) if lost.cause in ENDS]
    own = [lost for lost in ends if lost.peer == node]
    if own:  # the last link of its way: a copy for another goes through this node only by chance
        ends = _last_end(own)
    story = _tell_ends(trail, publication, ends)
    causes = {_cause(trail, publication, lost) for lost in ends}
    if len(causes) == 1:
        return Diagnosis(causes.pop(), story)
    if causes:
        return Diagnosis(
            Cause.UNEXPLAINED, [*story, "one of these was its copy; the facts do not tell which"]
        )
    for sent in reversed(trail.sent.get(publication, [])):
        if sent.to == node and sent.failed:
            gave_up = f"t={sent.time:.3f} the link from node {sent.node} to node {node} gave up"
            return Diagnosis(Cause.RETRY_LIMIT, [gave_up])
    for lost in reversed(trail.lost.get(publication, [])):
        if lost.node == node and lost.cause in FRAME_LOSSES:
            sentence = f"t={lost.time:.3f} node {node} lost the frame of node {lost.peer}: {lost.cause}"
            return Diagnosis(FRAME_LOSSES[lost.cause], [sentence])
    return _on_its_way(trail, publication)


def _last_end(own: list[TrailDrop]) -> list[TrailDrop]:
    """Where a copy that a router tried several ways for came to its end: it had nothing else to try, or a
    radio that was off refused all of them."""
    last = own[-1]
    moment = [lost for lost in own if lost.node == last.node and last.time - lost.time <= MOMENT]
    return [next((lost for lost in moment if lost.cause == "radio_off"), last)]


def _tell_ends(trail: Trail, publication: int, ends: list[TrailDrop]) -> list[str]:
    """A sentence for each kind of end that copies came to."""
    counts = Counter(_ended(trail, publication, lost) for lost in ends)
    told = [f"{end} ({times} copies)" if times > 1 else end for end, times in counts.items()]
    return [*told[:TOLD], *([f"and {len(told) - TOLD} more ends of copies"] if len(told) > TOLD else [])]


def _ended(trail: Trail, publication: int, lost: TrailDrop) -> str:
    sentence = f"t={lost.time:.3f} node {lost.node}: {describe_reason(lost.cause)}"
    gave_up = [
        sent
        for sent in trail.sent.get(publication, [])
        if sent.failed and sent.node == lost.node and sent.time <= lost.time
    ]
    return f"{sentence}, after the link to node {gave_up[-1].to} gave up" if gave_up else sentence


def _cause(trail: Trail, publication: int, lost: TrailDrop) -> Cause:
    cause = ENDS[lost.cause]
    at_publisher = lost.node == trail.publisher(publication)
    return Cause.PUBLISHER_OFF if cause is Cause.RELAY_OFF and at_publisher else cause


def _unheard(trail: Trail, publication: int, node: int) -> Diagnosis | None:
    """Where the protocol tells wishes: whether this node told nobody."""
    if not trail.told:
        return None
    time = trail.published[publication]
    if any(sent.time <= time for sent in trail.told.get(node, [])):
        return None
    return Diagnosis(Cause.NO_PARENT, [f"node {node} had told nobody what it wants before t={time:.1f}"])


def _on_its_way(trail: Trail, publication: int) -> Diagnosis:
    """No end of a copy is told: whether one was under way at the end, or who may have lost it."""
    copies: list[TrailTransmission] = trail.sent.get(publication, [])
    end, publisher = trail.run.duration, trail.publisher(publication)
    if not copies:
        crashed = trail.outages.forgot(publisher, trail.published[publication], end)
        if crashed is not None:
            return Diagnosis(
                Cause.PUBLISHER_OFF, [f"t={crashed:.1f} node {publisher} crashed, and had not sent it"]
            )
        return Diagnosis(Cause.UNEXPLAINED, ["nobody sent it, and no row tells why"])
    last = copies[-1].time
    story = [f"it was sent {len(copies)} times, the last at t={last:.1f}"]
    if last + UNDER_WAY >= end:
        return Diagnosis(Cause.UNFINISHED, story)
    for sent in reversed(copies):
        keeper = sent.node if sent.failed or sent.to < 0 else sent.to
        crashed = trail.outages.forgot(keeper, sent.time, end)
        if crashed is not None and not any(each.node == keeper and each.time > sent.time for each in copies):
            had = f"node {keeper} had it from t={sent.time:.3f} on, and crashed at t={crashed:.1f}"
            return Diagnosis(Cause.RELAY_OFF, [*story, had])
    return Diagnosis(Cause.UNEXPLAINED, [*story, "no row tells what became of the last copy"])
