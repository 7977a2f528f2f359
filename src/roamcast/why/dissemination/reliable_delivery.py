"""Explain losses in protocols that retransmit an event until it is acknowledged.

Such a protocol misses an event only if the subscription was unknown, if a crash erased the event or the
subscription, or if the run ended before the delivery.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf

from roamcast.why.causes import DROP_CAUSES, RETRIES_ENDED, Cause, Diagnosis, describe_reason
from roamcast.why.proofs.outages import describe
from roamcast.why.trail.context import SubscriptionPeriod
from roamcast.why.trail.trail import Trail, TrailDrop, TrailTransmission

GIVEN_UP = ("expired", "table_full")
"Reasons for which a publisher drops an event with outstanding deliveries."

AT_WORK = 10.0
"A publisher with outstanding deliveries that is still working completes one within this time [s]."
QUICK = 1.0
"Duration of a delivery if no other is outstanding [s]."


class ReliableDelivery:
    """The sequence of checks that explains the loss of one event."""

    def __init__(self, trail: Trail, publication: int, recall: float) -> None:
        """Explain `publication`; a new subscription also covers events of the last `recall` seconds."""
        self.trail = trail
        self.publication = publication
        self.publisher = trail.publisher(publication)
        self.published = trail.published[publication]
        self.reaches_back = self.published + recall
        self.end = trail.run.duration
        self.copies: list[TrailTransmission] = trail.sent.get(publication, [])
        self.losses: list[TrailDrop] = trail.lost.get(publication, [])

    def explain(self, node: int, period: SubscriptionPeriod | None) -> Diagnosis:
        """Return why `node` did not receive the event; `period` is the subscription that matched it."""
        since = period.since if period is not None else 0.0
        return (
            self._crashed(node)
            or self._asked_late(node, since)
            or self._forgotten()
            or self._unknown(node, since)
            or self._in_turn(node)
            or self._not_recalled(node, since)
            or self._given_up()
            or self._unfinished(node)
        )

    def _crashed(self, node: int) -> Diagnosis | None:
        crashed = self.trail.outages.forgot(node, self.published, self.end)
        if crashed is None:
            return None
        return Diagnosis(
            Cause.SUBSCRIBER_OFF, [f"t={crashed:.1f} node {node} crashed and lost its subscriptions"]
        )

    def _asked_late(self, node: int, since: float) -> Diagnosis | None:
        trail = self.trail
        if not trail.subscriptions or trail.reach.meets(node, self.publisher, since, self.reaches_back):
            return None
        between = f"between then and t={self.reaches_back:.1f}"
        story = [
            f"node {node} subscribed at t={since:.1f}",
            f"no path existed from node {node} to node {self.publisher} {between}",
        ]
        return Diagnosis(Cause.ASKED_LATE, story, proven=True)

    def _forgotten(self) -> Diagnosis | None:
        crashed = self.trail.outages.forgot(self.publisher, self.published, self.end)
        if crashed is None:
            return None
        story = [f"t={crashed:.1f} node {self.publisher} crashed and lost the event"]
        return Diagnosis(Cause.PUBLISHER_OFF, story)

    def _unknown(self, node: int, since: float) -> Diagnosis | None:
        """Return a diagnosis if the subscription was not acknowledged in time to cover the event."""
        known = self._known(node, since)
        if known <= self.reaches_back:
            return None
        return Diagnosis(Cause.NOT_YET_KNOWN, self._describe_known(node, since, known))

    def _not_recalled(self, node: int, since: float) -> Diagnosis | None:
        """Return a diagnosis if the publisher learned of the subscription only after the event."""
        known = self._known(node, since)
        if known <= self.published:
            return None
        reach = self.reaches_back - self.published
        story = [
            *self._describe_known(node, since, known),
            f"a subscription covers events of the last {reach:g} s",
        ]
        return Diagnosis(Cause.NOT_RECALLED, story)

    def _known(self, node: int, since: float) -> float:
        """Return when the subscription became known; `since` if the protocol sends no subscriptions [s]."""
        trail = self.trail
        if not trail.subscriptions and not trail.subscription_acks:
            return since
        return next((time for time in trail.subscription_acks.get(node, []) if time >= since), inf)

    def _describe_known(self, node: int, since: float, known: float) -> list[str]:
        when = "never arrived" if known == inf else f"arrived at t={known:.1f}"
        return [
            f"node {node} subscribed {self.published - since:.1f} s before it was published",
            f"the acknowledgement of its subscription {when}",
        ]

    def _in_turn(self, node: int) -> Diagnosis | None:
        """Return a diagnosis if the event waited behind earlier ones, in a protocol that keeps their order.

        The publisher completed deliveries until the last path to the node ended, and had not yet reached this
        event.
        """
        trail, publisher = self.trail, self.publisher
        if not trail.run.traits.get("ordered"):
            return None
        backlog = trail.backlog(publisher)
        if backlog.latest.get(node, -1) > self.publication:
            return None  # a later event was delivered, so this one was skipped
        end = trail.last_path(publisher, node)
        worked = backlog.delivered_between(end - AT_WORK, end)
        ahead = backlog.count_before(node, self.publication)
        if not worked or end - self.published <= QUICK or backlog.outstanding <= worked * QUICK / AT_WORK:
            return None
        until = (
            "the end of the run"
            if end >= self.end
            else f"t={end:.1f}, when the last path to node {node} ended,"
        )
        return Diagnosis(
            Cause.BACKLOG,
            [
                f"node {node} receives events in order, and {ahead} earlier ones were still undelivered",
                f"node {publisher} had {backlog.outstanding} outstanding deliveries at the end of the run",
                f"it completed {worked} deliveries in the {AT_WORK:g} s before {until}",
            ],
        )

    def _given_up(self) -> Diagnosis | None:
        """Return a diagnosis if the publisher dropped the event for all nodes that missed it.

        If it dropped the event for some of them only, the rows do not record for which.
        """
        own = [lost for lost in self.losses if lost.node == self.publisher and lost.cause in GIVEN_UP]
        if not own or len(own) < self.trail.missing[self.publication]:
            return None
        last = own[-1]
        return Diagnosis(
            DROP_CAUSES[last.cause], [f"t={last.time:.3f} node {last.node}: {describe_reason(last.cause)}"]
        )

    def _unfinished(self, node: int) -> Diagnosis:
        """Return whether the publisher retransmitted until the end, or what stopped the retransmission."""
        if not self.copies:
            return Diagnosis(Cause.UNEXPLAINED, ["the subscription was known, and no node sent the event"])
        times = [self.published, *(sent.time for sent in self.copies)]
        last = times[-1]
        story = [f"it was sent {len(self.copies)} times, the last at t={last:.1f}"]
        outage = self.trail.outages.during(self.publisher, last, self.end)
        if outage is not None:
            return Diagnosis(Cause.PUBLISHER_OFF, [*story, describe(self.publisher, outage)])
        pace = max(later - earlier for earlier, later in pairwise(times))
        if self.end - last <= max(pace, 1.0):
            return Diagnosis(Cause.UNFINISHED, story)
        if not self.trail.up.meets(self.publisher, node, last, self.end):
            return Diagnosis(Cause.UNFINISHED, [*story, f"no path to node {node} existed after that"])
        return self._last_attempt(node, story)

    def _last_attempt(self, node: int, story: list[str]) -> Diagnosis:
        """Return what ended the last attempt, if a row records it.

        Drops by the publisher are left out, because they may concern another subscriber.
        """
        last = self.copies[-1]
        ends = [
            lost
            for lost in self.losses
            if lost.cause in DROP_CAUSES
            and lost.time >= last.time
            and not (lost.node == self.publisher and lost.cause in GIVEN_UP)
            and (lost.node == node or lost.cause != "unwanted")
        ]
        if ends:
            end = ends[-1]
            cause = Cause.OUTDATED if end.cause == "expired" else DROP_CAUSES[end.cause]
            sentence = (
                f"t={end.time:.3f} node {end.node}: {describe_reason(end.cause)}, and it was not sent again"
            )
            return Diagnosis(cause, [*story, sentence])
        if last.failed:
            sentence = (
                f"the link from node {last.node} to node {last.to} {RETRIES_ENDED}, and it was not sent again"
            )
            return Diagnosis(Cause.RETRY_LIMIT, [*story, sentence])
        return Diagnosis(Cause.UNEXPLAINED, [*story, "no row records why it was not sent again"])
