"""Explain why an event was not delivered to a subscriber, from the facts of any protocol.

Proofs from movement, outages and the edge of the radio range come first; they hold for any protocol. The
inference after that depends on the traits that the router declares (`roamcast.routing.traits`): a flooded
event is searched at the border of its flood, an event on a reverse path or route along this path, and an
addressed event by its copies.
"""

from __future__ import annotations

from math import inf

from roamcast.why.causes import Cause, Diagnosis
from roamcast.why.dissemination.copies import follow_copies
from roamcast.why.dissemination.frontier import FloodSearch
from roamcast.why.dissemination.reliable_delivery import ReliableDelivery
from roamcast.why.dissemination.reverse_path import ReversePath, dropped_at
from roamcast.why.dissemination.routed import follow_routes
from roamcast.why.dissemination.served_nodes import follow_service
from roamcast.why.proofs.outages import describe
from roamcast.why.trail.context import SubscriptionPeriod
from roamcast.why.trail.trail import Trail


class Explainer:
    """Explains the losses of one run."""

    def __init__(self, trail: Trail) -> None:
        self.trail = trail
        self._floods = FloodSearch(trail)
        traits = trail.run.traits
        self.travel: str = traits.get("travel", "flooded")
        self.retransmits: bool = traits.get("promise") == "until_acknowledged"
        "Whether the protocol retransmits an event until it is acknowledged."
        self.lease: float | None = traits.get("subscription_lease")
        self.recall: float = traits.get("recall") or 0.0
        self.served: bool = bool(traits.get("served_by"))
        "Whether nodes subscribe and receive through other nodes."

    def explain(
        self, publication: int, node: int, *, until: float = inf, period: SubscriptionPeriod | None = None
    ) -> Diagnosis:
        """Return why `node` had not received an event `until` a time [s].

        `period` is the subscription or request to explain; None: the interest that matched the event.
        """
        trail = self.trail
        until = min(until, trail.run.duration)
        proof = self._prove(publication, node, trail.published[publication], until)
        if proof is not None:
            return proof
        period = period if period is not None else trail.matching_subscription(publication, node)
        if self.retransmits:
            return ReliableDelivery(trail, publication, self.recall).explain(node, period)
        changed = self._changed(publication, node, period)
        if changed is not None:
            return changed
        aired = min(until, trail.last_sent(publication))
        proof = self._prove(publication, node, trail.published[publication], aired, on_the_air=True)
        if proof is not None:
            return proof
        if self.travel == "tree" and trail.subscriptions:
            verdict = self._explain_tree(publication, node)
        elif self.travel == "routed" and trail.subscriptions:
            verdict = follow_routes(self._floods, publication, node)
        elif self.served and period is not None:
            verdict = follow_service(trail, publication, node, period)
        elif self.travel == "addressed":
            verdict = follow_copies(trail, publication, node)
        elif node in trail.holders[publication]:
            verdict = Diagnosis(Cause.UNEXPLAINED, [f"node {node} received it and did not deliver it"])
        else:
            verdict = self._floods.find(publication, node)
        outage = trail.outages.during(node, trail.published[publication], aired)
        if outage is not None and verdict.cause in (Cause.UNEXPLAINED, Cause.RELAY_OFF):
            return Diagnosis(Cause.SUBSCRIBER_OFF, [describe(node, outage)])
        return verdict

    def _explain_tree(self, publication: int, node: int) -> Diagnosis:
        """Return why no copy addressed to `node` arrived; a node that relayed a copy for others says so."""
        verdict = ReversePath(self.trail, publication, self.lease).explain(node)
        relayed = [sent.time for sent in self.trail.sent.get(publication, []) if sent.node == node]
        if not relayed:
            return verdict
        for_others = f"t={relayed[0]:.3f} node {node} relayed a copy that was addressed to other nodes only"
        return Diagnosis(verdict.cause, [*verdict.story, for_others])

    def _prove(
        self, publication: int, node: int, start: float, end: float, *, on_the_air: bool = False
    ) -> Diagnosis | None:
        """Return the cause that movement, outages and the edge of the range prove for an interval."""
        trail, publisher = self.trail, self.trail.publisher(publication)
        path = f"from node {publisher} to node {node} between t={start:.1f} and"
        ended = "the end of the run" if end >= trail.run.duration else f"t={end:.1f}"
        if not trail.reach.meets(publisher, node, start, end):
            cause = Cause.APART if on_the_air else Cause.UNREACHABLE
            sent = ", the end of the last transmission" if on_the_air else ""
            return Diagnosis(cause, [f"no path existed {path} {ended}{sent}"], proven=True)
        if trail.outages.throughout(node, start, end):
            outage = trail.outages.during(node, start, end)
            return Diagnosis(Cause.SUBSCRIBER_OFF, [describe(node, outage)] if outage else [], proven=True)
        if not trail.up.meets(publisher, node, start, end):
            return Diagnosis(
                Cause.CUT_OFF,
                [
                    f"no path existed {path} {ended} over nodes that were up with their radio on",
                    *self._down(start, end),
                ],
                proven=True,
            )
        if not trail.up.sure.meets(publisher, node, start, end):
            micrometres = trail.reach.edge * 1e6
            return Diagnosis(
                Cause.AT_THE_EDGE,
                [
                    f"a path existed {path} {ended} only over a link within {micrometres:g} micrometre of the"
                    f" range of {trail.reach.range:g} m; reception at this distance is not certain"
                ],
                proven=True,
            )
        return None

    def _down(self, start: float, end: float) -> list[str]:
        """Return sentences on at most three nodes with an outage, and the number of the others."""
        outages = (
            (node, self.trail.outages.during(node, start, end)) for node in range(self.trail.run.nodes)
        )
        affected = [describe(node, outage) for node, outage in outages if outage is not None]
        return [*affected[:3], *([f"and {len(affected) - 3} more"] if len(affected) > 3 else [])]

    def _changed(self, publication: int, node: int, period: SubscriptionPeriod | None) -> Diagnosis | None:
        """Return a diagnosis if the event arrived after the node had unsubscribed."""
        trail = self.trail
        if node not in trail.holders[publication] or period is None:
            return None
        times = [sent.time for sent in trail.sent.get(publication, []) if sent.node == node]
        here = dropped_at(trail, publication, node)
        first = min([*times, *([here.time] if here is not None else [])])
        if period.until > first:
            return None
        return Diagnosis(
            Cause.CHANGED,
            [
                f"t={first:.3f} node {node} had received it, but its subscription to {period.wanted} ended at"
                f" t={period.until:.3f}"
            ],
        )
