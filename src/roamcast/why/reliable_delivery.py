"""Promised: why an event did not arrive under a protocol that sends it until it is acknowledged.

Such a protocol misses only what it does not know, what is forgotten in a crash, and what it does not finish.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf

from roamcast.why.causes import ENDS, Cause, Diagnosis, describe_reason
from roamcast.why.outages import describe
from roamcast.why.trail import SubscriptionPeriod, Trail, TrailDrop, TrailTransmission

GIVEN_UP = ("expired", "table_full")
"Reasons for which a publisher lets an event go that it owes to somebody."

AT_WORK = 10.0
"Seconds in which a publisher that is at work on what it owes delivers something to somebody."
QUICK = 1.0
"Seconds that a delivery takes if nothing else is owed."


class ReliableDelivery:
    """The questions to ask of one event, in order."""

    def __init__(self, trail: Trail, publication: int, recall: float) -> None:
        """A wish that becomes known reaches back `recall` seconds."""
        self.trail = trail
        self.publication = publication
        self.publisher = trail.publisher(publication)
        self.published = trail.published[publication]
        self.reaches_back = self.published + recall
        self.end = trail.run.duration
        self.copies: list[TrailTransmission] = trail.sent.get(publication, [])
        self.losses: list[TrailDrop] = trail.lost.get(publication, [])

    def explain(self, node: int, wish: SubscriptionPeriod | None) -> Diagnosis:
        """Why `node` did not get it, which wanted it since `wish` began."""
        since = wish.since if wish is not None else 0.0
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
            Cause.SUBSCRIBER_OFF, [f"t={crashed:.1f} node {node} crashed, and forgot its wishes"]
        )

    def _asked_late(self, node: int, since: float) -> Diagnosis | None:
        trail = self.trail
        if not trail.told or trail.reach.meets(node, self.publisher, since, self.reaches_back):
            return None
        between = f"between then and t={self.reaches_back:.1f}"
        story = [
            f"node {node} wanted it since t={since:.1f}",
            f"no path led from node {node} to node {self.publisher} {between}",
        ]
        return Diagnosis(Cause.ASKED_LATE, story, proven=True)

    def _forgotten(self) -> Diagnosis | None:
        crashed = self.trail.outages.forgot(self.publisher, self.published, self.end)
        if crashed is None:
            return None
        story = [f"t={crashed:.1f} node {self.publisher} crashed, and forgot the event"]
        return Diagnosis(Cause.PUBLISHER_OFF, story)

    def _unknown(self, node: int, since: float) -> Diagnosis | None:
        """Whether the subscription was not known in time; asked of protocols that say when it is."""
        known = self._known(node, since)
        if known <= self.reaches_back:
            return None
        return Diagnosis(Cause.NOT_YET_KNOWN, self._tell_known(node, since, known))

    def _not_recalled(self, node: int, since: float) -> Diagnosis | None:
        """Whether the subscription was known later, in time to reach back to the event."""
        known = self._known(node, since)
        if known <= self.published:
            return None
        reach = self.reaches_back - self.published
        story = [*self._tell_known(node, since, known), f"a subscription reaches back {reach:g} s"]
        return Diagnosis(Cause.NOT_RECALLED, story)

    def _known(self, node: int, since: float) -> float:
        """When the subscription was known; at once in a protocol that does not tell."""
        trail = self.trail
        if not trail.told and not trail.granted:
            return since
        return next((granted for granted in trail.granted.get(node, []) if granted >= since), inf)

    def _tell_known(self, node: int, since: float, known: float) -> list[str]:
        when = "never" if known == inf else f"at t={known:.1f}"
        return [
            f"node {node} wanted it {self.published - since:.1f} s before it was published",
            f"word that its subscription is known came {when}",
        ]

    def _in_turn(self, node: int) -> Diagnosis | None:
        """Whether it waited for its turn, in a protocol that keeps the order of publication.

        The publisher was at work until the last moment from which a path led to the node, and had not come
        to this event yet.
        """
        trail, publisher = self.trail, self.publisher
        if not trail.run.traits.get("ordered"):
            return None
        line = trail.line(publisher)
        if line.latest.get(node, -1) > self.publication:
            return None  # later ones were delivered: it was passed over
        end = trail.last_path(publisher, node)
        worked = line.delivered_between(end - AT_WORK, end)
        ahead = line.owed(node, self.publication)
        if not worked or end - self.published <= QUICK or line.owing <= worked * QUICK / AT_WORK:
            return None
        until = (
            "the end of the run"
            if end >= self.end
            else f"t={end:.1f}, when the last path to node {node} ended,"
        )
        return Diagnosis(
            Cause.BACKLOG,
            [
                f"node {node} gets events in order, and {ahead} before this one were still owed to it",
                f"node {publisher} owed {line.owing} deliveries in all at the end",
                f"it delivered {worked} in the {AT_WORK:g} s before {until}",
            ],
        )

    def _given_up(self) -> Diagnosis | None:
        """Whether the publisher gave it up for all who missed it; of some, no row tells for whom."""
        own = [lost for lost in self.losses if lost.node == self.publisher and lost.cause in GIVEN_UP]
        if not own or len(own) < self.trail.missing[self.publication]:
            return None
        last = own[-1]
        return Diagnosis(
            ENDS[last.cause], [f"t={last.time:.3f} node {last.node}: {describe_reason(last.cause)}"]
        )

    def _unfinished(self, node: int) -> Diagnosis:
        """Whether it was tried to the end, at its own pace, or could not be since the last copy."""
        if not self.copies:
            return Diagnosis(Cause.UNEXPLAINED, ["its wish was known, and nobody sent it"])
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
            return Diagnosis(Cause.UNFINISHED, [*story, f"no path led to node {node} after that"])
        return self._last_attempt(node, story)

    def _last_attempt(self, node: int, story: list[str]) -> Diagnosis:
        """What ended the last attempt, if a row tells; what the publisher gave up may be another's."""
        last = self.copies[-1]
        ends = [
            lost
            for lost in self.losses
            if lost.cause in ENDS
            and lost.time >= last.time
            and not (lost.node == self.publisher and lost.cause in GIVEN_UP)
            and (lost.node == node or lost.cause != "unwanted")
        ]
        if ends:
            end = ends[-1]
            cause = Cause.OUTDATED if end.cause == "expired" else ENDS[end.cause]
            told = (
                f"t={end.time:.3f} node {end.node}: {describe_reason(end.cause)}, and it was not sent again"
            )
            return Diagnosis(cause, [*story, told])
        if last.failed:
            gave_up = f"the link from node {last.node} to node {last.to} gave up, and it was not sent again"
            return Diagnosis(Cause.RETRY_LIMIT, [*story, gave_up])
        return Diagnosis(Cause.UNEXPLAINED, [*story, "no row tells why it was not sent again"])
