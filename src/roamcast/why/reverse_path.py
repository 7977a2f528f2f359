"""The climb: where an event that follows the way back of wishes left it.

Whom had the missing node told of its wish, did that node send the event, and if it never had it, whom had it
told in turn.
"""

from __future__ import annotations

from math import inf

from roamcast.why.causes import ENDS, FRAME_LOSSES, Cause, Diagnosis, describe_reason
from roamcast.why.outages import describe
from roamcast.why.trail import Trail, TrailDrop, TrailTransmission

CLIMBS = 32
"Steps of one climb: more than any way has hops."


class ReversePath:
    """The climb for one event."""

    def __init__(self, trail: Trail, publication: int, lease: float | None) -> None:
        """Others forget a wish that is not renewed after `lease` seconds."""
        self.trail = trail
        self.publication = publication
        self.lease = inf if lease is None else lease
        self.copies: list[TrailTransmission] = trail.sent.get(publication, [])
        self.losses: list[TrailDrop] = trail.lost.get(publication, [])
        self.published = trail.published[publication]
        self._seen: set[int] = set()

    def explain(self, node: int) -> Diagnosis:
        """Why the event did not come down to `node`."""
        self._seen.add(node)
        told = self.trail.parents(node, self.published, self.lease)
        parents = [(when, parent) for when, parent in told if parent not in self._seen]
        if not parents:
            return self._without_parent(node)
        for when, parent in parents:
            copies = [sent for sent in self.copies if sent.node == parent]
            if copies:
                return self._between(node, parent, copies, when)
        for when, parent in parents:
            verdict = self._at_parent(parent)
            if verdict is not None:
                told_it = f"node {node} had told node {parent} at t={when:.1f} what it wants"
                return Diagnosis(verdict.cause, [told_it, *verdict.story])
        return Diagnosis(Cause.UNEXPLAINED, [f"node {node} had told its wish in a circle"])

    def _at_parent(self, parent: int) -> Diagnosis | None:
        """Why a parent did not send it."""
        is_publisher = parent == self.trail.publisher(self.publication)
        off = Cause.PUBLISHER_OFF if is_publisher else Cause.RELAY_OFF
        here = dropped_at(self.trail, self.publication, parent)
        if here is not None:
            cause = ENDS[here.cause] if here.cause != "radio_off" else off
            return Diagnosis(cause, [f"t={here.time:.3f} node {parent}: {describe_reason(here.cause)}"])
        last = self.trail.last_sent(self.publication)
        outage = self.trail.outages.during(parent, self.published, last)
        if outage is not None:
            return Diagnosis(off, [describe(parent, outage)])
        if is_publisher:
            return Diagnosis(Cause.UNEXPLAINED, [f"node {parent} did not send it"])
        if len(self._seen) >= CLIMBS:
            return None
        above = self.explain(parent)
        return Diagnosis(above.cause, [f"node {parent} never had it", *above.story])

    def _between(self, node: int, parent: int, copies: list[TrailTransmission], told_at: float) -> Diagnosis:
        """The parent sent it and the node did not get it."""
        cause, sentence = self._on_the_link(node, parent, copies) or self._not_addressed(
            node, copies, told_at
        )
        sent = [f"t={sent.time:.3f} node {parent} sent it ({sent.kind})" for sent in copies[:3]]
        return Diagnosis(cause, [*sent, sentence])

    def _on_the_link(
        self, node: int, parent: int, copies: list[TrailTransmission]
    ) -> tuple[Cause, str] | None:
        for lost in self.losses:
            if lost.node == node and lost.peer == parent and lost.cause in FRAME_LOSSES:
                return FRAME_LOSSES[lost.cause], f"t={lost.time:.3f} node {node} lost the frame: {lost.cause}"
        failed = next((sent for sent in copies if sent.failed and sent.to == node), None)
        if failed is not None:
            gave_up = f"t={failed.time:.3f} the link from node {parent} to node {node} gave up"
            return Cause.RETRY_LIMIT, gave_up
        last = copies[-1].time
        outage = self.trail.outages.during(node, copies[0].time, last)
        if outage is not None:
            return Cause.RELAY_OFF, describe(node, outage)
        reach = self.trail.reach
        distance = reach.distance(node, parent, last)
        if distance > reach.range - reach.edge:
            return Cause.MOVED_AWAY, f"node {node} was {distance:.0f} m away, out of range of node {parent}"
        return None

    def _not_addressed(self, node: int, copies: list[TrailTransmission], told_at: float) -> tuple[Cause, str]:
        ago = f"whose wish it had last heard {copies[-1].time - told_at:.1f} s before"
        wish = self.trail.matching_subscription(self.publication, node)
        if wish is not None and told_at < wish.since:
            only = "and which wanted this only after that"
            return Cause.NOT_YET_KNOWN, f"it was not meant for node {node}, {ago}, {only}"
        return Cause.NOT_MEANT, f"it was not meant for node {node}, {ago}; no row tells which wish that was"

    def _without_parent(self, node: int) -> Diagnosis:
        time, lease = self.published, self.lease
        told = [sent for sent in self.trail.told.get(node, []) if time - lease <= sent.time <= time]
        failed = [sent for sent in told if sent.failed]
        if failed:
            last = failed[-1]
            gave_up = f"the link gave up on the subscription of node {node} to node {last.to}"
            return Diagnosis(Cause.RETRY_LIMIT, [f"t={last.time:.3f} {gave_up}"])
        lately = "until then" if lease == inf else f"in the {lease:g} s before t={time:.1f}"
        beyond = ", besides those that it had heard it from" if told else ""
        return Diagnosis(Cause.NO_PARENT, [f"node {node} had told nobody what it wants {lately}{beyond}"])


def dropped_at(trail: Trail, publication: int, node: int) -> TrailDrop | None:
    """What a node's router or link did with an event, other than sending it."""
    losses: list[TrailDrop] = trail.lost.get(publication, [])
    return next((lost for lost in losses if lost.node == node and lost.cause in ENDS), None)
