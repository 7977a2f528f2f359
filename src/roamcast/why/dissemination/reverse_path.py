"""Explain losses in protocols that forward events along the reverse paths of subscriptions.

The search goes upstream from the node that missed the event: to which neighbours had the node sent its
subscription, did one of these send the event, and if none of them had it, what happened upstream of them.
"""

from __future__ import annotations

from math import inf

from roamcast.why.causes import DROP_CAUSES, FRAME_LOSSES, RETRIES_ENDED, Cause, Diagnosis, describe_reason
from roamcast.why.proofs.outages import describe
from roamcast.why.trail.trail import Trail, TrailDrop, TrailTransmission

CLIMBS = 32
"Maximum number of nodes visited upstream; longer than any route."


class ReversePath:
    """The upstream search for one event."""

    def __init__(self, trail: Trail, publication: int, lease: float | None) -> None:
        """Explain `publication`; subscriptions expire `lease` seconds after their renewal (None: never)."""
        self.trail = trail
        self.publication = publication
        self.lease = inf if lease is None else lease
        self.copies: list[TrailTransmission] = trail.sent.get(publication, [])
        self.losses: list[TrailDrop] = trail.lost.get(publication, [])
        self.published = trail.published[publication]
        self._seen: set[int] = set()

    def explain(self, node: int) -> Diagnosis:
        """Return why the event did not reach `node`."""
        self._seen.add(node)
        receivers = self.trail.parents(node, self.published, self.lease)
        parents = [(when, parent) for when, parent in receivers if parent not in self._seen]
        if not parents:
            return self._without_parent(node)
        for when, parent in parents:
            copies = [sent for sent in self.copies if sent.node == parent]
            if copies:
                return self._between(node, parent, copies, when)
        for when, parent in parents:
            verdict = self._at_parent(parent)
            if verdict is not None:
                sentence = f"node {node} had sent its subscription to node {parent} at t={when:.1f}"
                return Diagnosis(verdict.cause, [sentence, *verdict.story])
        return Diagnosis(
            Cause.UNEXPLAINED, [f"the search upstream of node {node} ended after {CLIMBS} nodes"]
        )

    def _at_parent(self, parent: int) -> Diagnosis | None:
        """Return why an upstream neighbour did not send the event; None if the search is too long."""
        is_publisher = parent == self.trail.publisher(self.publication)
        off = Cause.PUBLISHER_OFF if is_publisher else Cause.RELAY_OFF
        here = dropped_at(self.trail, self.publication, parent)
        if here is not None:
            cause = DROP_CAUSES[here.cause] if here.cause != "radio_off" else off
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
        return Diagnosis(above.cause, [f"node {parent} did not receive it", *above.story])

    def _between(
        self, node: int, parent: int, copies: list[TrailTransmission], subscribed_at: float
    ) -> Diagnosis:
        """Return why the node did not receive an event that its upstream neighbour sent."""
        cause, sentence = self._on_the_link(node, parent, copies) or self._not_addressed(
            node, copies, subscribed_at
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
            sentence = f"t={failed.time:.3f} the link from node {parent} to node {node} {RETRIES_ENDED}"
            return Cause.RETRY_LIMIT, sentence
        last = copies[-1].time
        outage = self.trail.outages.during(node, copies[0].time, last)
        if outage is not None:
            return Cause.RELAY_OFF, describe(node, outage)
        reach = self.trail.reach
        distance = reach.distance(node, parent, last)
        if distance > reach.range - reach.edge:
            return Cause.MOVED_AWAY, f"node {node} was {distance:.0f} m away, out of range of node {parent}"
        return None

    def _not_addressed(
        self, node: int, copies: list[TrailTransmission], subscribed_at: float
    ) -> tuple[Cause, str]:
        ago = f"whose last subscription was sent {copies[-1].time - subscribed_at:.1f} s before"
        period = self.trail.matching_subscription(self.publication, node)
        if period is not None and subscribed_at < period.since:
            only = "and which subscribed to this event only after that"
            return Cause.NOT_YET_KNOWN, f"it was not addressed to node {node}, {ago}, {only}"
        return Cause.NOT_MEANT, f"it was not addressed to node {node}, {ago}; no row records its filter"

    def _without_parent(self, node: int) -> Diagnosis:
        time, lease = self.published, self.lease
        sent_before = [
            sent for sent in self.trail.subscriptions.get(node, []) if time - lease <= sent.time <= time
        ]
        failed = [sent for sent in sent_before if sent.failed]
        if failed:
            last = failed[-1]
            sentence = f"the link {RETRIES_ENDED} for the subscription of node {node} to node {last.to}"
            return Diagnosis(Cause.RETRY_LIMIT, [f"t={last.time:.3f} {sentence}"])
        interval = f"before t={time:.1f}" if lease == inf else f"in the {lease:g} s before t={time:.1f}"
        others = " to a node that was not examined yet" if sent_before else ""
        return Diagnosis(Cause.NO_PARENT, [f"node {node} had sent no subscription{others} {interval}"])


def dropped_at(trail: Trail, publication: int, node: int) -> TrailDrop | None:
    """Return the first drop of an event by a node's router or link layer, or None."""
    losses: list[TrailDrop] = trail.lost.get(publication, [])
    return next((lost for lost in losses if lost.node == node and lost.cause in DROP_CAUSES), None)
