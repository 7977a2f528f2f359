"""The facts of a run, indexed by event and by node.

Messages are classified by their role in `run.json`, not by the name of their kind.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from roamcast.facts.tables import Facts
from roamcast.why.causes import DROP_CAUSES, FRAME_LOSSES, LINK_DROPS
from roamcast.why.trail.backlog import DeliveryBacklog
from roamcast.why.trail.context import (
    EVENT,
    SUBSCRIPTION,
    SUBSCRIPTION_ACK,
    RunContext,
    SubscriptionPeriod,
    rows_of,
    rows_of_role,
)
from roamcast.why.trail.integrity import check_integrity
from roamcast.why.trail.stops import StopIndex

PROPAGATION = 0.001
"Upper bound of the propagation delay within carrier-sense range [s]."

DRAIN = 5.0
"A node that sent no event for this long before the end of the run had an empty queue [s]."

REORDERING = 1.0
"A node sends events in the order of reception up to this difference, because routers delay copies [s]."


class TrailTransmission(NamedTuple):
    """A message that a node transmitted."""

    time: float
    node: int
    to: int
    kind: str
    failed: bool
    end: float
    "Latest end of the last frame [s]."


class TrailDrop(NamedTuple):
    """A message that a node dropped, or a frame that it failed to receive."""

    time: float
    node: int
    peer: int
    kind: str
    cause: str


class TrailRequest(NamedTuple):
    """A row of the table requests."""

    request: int
    node: int
    time: float
    wanted: str
    outcome: str
    answered: float
    publication: int


class Trail(RunContext):
    """The publications, transmissions, drops, deliveries and subscriptions of a run."""

    def __init__(self, facts: Facts, context: RunContext | None = None) -> None:
        """Index the facts of a run; with its `context`, `facts` may be a part of them."""
        if context is None:
            check_integrity(facts)
            super().__init__(facts)
        else:
            vars(self).update(vars(context))
        run = self.run
        publications = facts["publications"]
        ids = publications["publication"].to_pylist()
        self.published: dict[int, float] = dict(zip(ids, publications["time"].to_pylist(), strict=True))
        self.contents: dict[int, str] = dict(zip(ids, publications["event"].to_pylist(), strict=True))
        self.delivered: dict[tuple[int, int], float] = {}
        for publication, node, time in rows_of(facts["deliveries"], "publication", "node", "time"):
            self.delivered.setdefault((publication, node), time)
        self.expected = list(rows_of(facts["expectations"], "publication", "node"))
        self.requests = [
            TrailRequest(*row)
            for row in rows_of(
                facts["requests"], "request", "node", "time", "wanted", "outcome", "answered", "publication"
            )
        ]
        transmissions = _with_ends(facts["transmissions"], run.duration)
        carrying = rows_of_role(run, transmissions, EVENT)
        self.sent = _by_publication(carrying, TrailTransmission, "to", "kind", "failed", "end")
        dropped = rows_of_role(run, facts["drops"], EVENT)
        self.lost = _by_publication(dropped, TrailDrop, "peer", "kind", "cause")
        self.subscriptions = self._find_subscriptions(transmissions)
        dropped = rows_of_role(run, facts["drops"], SUBSCRIPTION)
        self.dropped_subscriptions = sorted(
            TrailDrop(*row) for row in rows_of(dropped, "time", "node", "peer", "kind", "cause")
        )
        "Dropped subscription messages, in order of time."
        self.subscription_acks = self._find_acks(transmissions)
        self.stops = lru_cache(maxsize=64)(self._stops)
        self.waiting_copies = lru_cache(maxsize=64)(self._waiting_copies)
        self._last_ends: dict[int, float] = {}
        self._backlogs: dict[int, DeliveryBacklog] = {}

    def misses(self) -> list[tuple[int, int]]:
        """Return the pairs of event and node that were expected after the warm-up and not delivered."""
        return [
            (publication, node)
            for publication, node in self.expected
            if self.published[publication] >= self.run.warmup and (publication, node) not in self.delivered
        ]

    def matching_subscription(self, publication: int, node: int) -> SubscriptionPeriod | None:
        """Return the oldest subscription of a node that matched an event when it was published, or None."""
        time, event = self.published[publication], self.contents[publication]
        standing = [
            period
            for period in self.subscription_periods.get(node, [])
            if period.since <= time <= period.until
        ]
        matching = [period for period in standing if self.matcher.matches(period.wanted, event)]
        return min(matching, key=lambda period: period.since, default=None)

    def last_sent(self, publication: int) -> float:
        """Return the end of the last transmission of an event; its publication if there is none [s]."""
        known = self._last_ends.get(publication)
        if known is None:
            ends = (sent.end for sent in self.sent.get(publication, []))
            known = self._last_ends[publication] = max(ends, default=self.published[publication])
        return known

    def _stops(self, publication: int) -> StopIndex:
        """Return the index of the places where the copies of an event stopped."""
        return StopIndex(self.sent.get(publication, ()), self.lost.get(publication, ()))

    def _waiting_copies(self, publication: int) -> Counter[int]:
        """Return how many copies of an event each node still held at the end, if every receiver is sent one.

        It is empty if the rows do not show that: a copy was broadcast, or nodes send subscriptions. A copy
        that is missing because a forwarder had a duplicate is counted at the publisher.
        """
        copies = self.sent.get(publication, [])
        if self.subscriptions or any(sent.to < 0 for sent in copies):
            return Counter()
        receivers, publisher = self.receivers[publication], self.publisher(publication)
        ended = [lost for lost in self.lost.get(publication, []) if lost.cause in DROP_CAUSES]
        held = Counter({publisher: len(receivers)})
        held.subtract(node for node in receivers if (publication, node) in self.delivered)
        held.subtract(lost.node for lost in ended)
        for sent in copies:
            if not sent.failed:
                held[sent.node] -= 1
                held[sent.to] += 1
        waiting = +held
        missed = {node for node in receivers if (publication, node) in self.missed}
        naming = [lost for lost in ended if lost.cause not in LINK_DROPS and lost.peer in missed]
        unnamed = len(missed) - len({lost.peer for lost in naming})
        missing = unnamed - (len(ended) - len(naming)) - waiting.total()
        if missing > 0:
            waiting[publisher] += missing
        return waiting

    def parents(self, node: int, time: float, lease: float) -> list[tuple[float, int]]:
        """Return the receivers of the subscriptions of `node` in the last `lease` seconds before `time`.

        Each is a pair of the time of the last subscription [s] and the neighbour, latest first.
        """
        sent_before = self.subscriptions.get(node, [])
        latest: dict[int, float] = {}
        for sent in reversed(sent_before[: bisect_right(sent_before, time, key=lambda s: s.time)]):
            if sent.time < time - lease:
                break
            if not sent.failed:
                for hearer in [sent.to] if sent.to >= 0 else self._in_range(node, sent.time):
                    latest.setdefault(hearer, sent.time)
        return sorted(((when, parent) for parent, when in latest.items()), reverse=True)

    def backlog(self, publisher: int) -> DeliveryBacklog:
        """Return the completed and outstanding deliveries of a publisher."""
        if publisher not in self._backlogs:
            self._backlogs[publisher] = DeliveryBacklog(publisher, self.expected, self.delivered)
        return self._backlogs[publisher]

    @cached_property
    def missed(self) -> frozenset[tuple[int, int]]:
        """Return the expected deliveries that did not happen, as pairs of publication and node."""
        return frozenset(pair for pair in self.expected if pair not in self.delivered)

    @cached_property
    def receivers(self) -> dict[int, list[int]]:
        """Return for each event the nodes that expected it, without its publisher."""
        found: dict[int, list[int]] = defaultdict(list)
        for publication, node in self.expected:
            if node != self.publisher(publication):
                found[publication].append(node)
        return found

    @cached_property
    def missing(self) -> Counter[int]:
        """Return for each event the number of nodes that expected it and did not receive it."""
        return Counter(
            publication for publication, node in self.expected if (publication, node) not in self.delivered
        )

    @cached_property
    def subscription_times(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the times of all subscription messages, in order [s]."""
        return np.sort([sent.time for messages in self.subscriptions.values() for sent in messages])

    @cached_property
    def holders(self) -> dict[int, set[int]]:
        """Return for each event the nodes that certainly had it: they sent, delivered or dropped it."""
        found = {publication: {self.publisher(publication)} for publication in self.published}
        for publication, copies in self.sent.items():
            found.setdefault(publication, set()).update(sent.node for sent in copies)
        for publication, losses in self.lost.items():
            had = (lost.node for lost in losses if lost.cause not in FRAME_LOSSES)
            found.setdefault(publication, set()).update(had)
        for publication, node in self.delivered:
            found.setdefault(publication, set()).add(node)
        return found

    def waits_at_end(self, publication: int, node: int) -> bool:
        """Return whether a node that had an event certainly still held it in its queue at the end of the run.

        It does if it neither sent nor dropped the event, sent others shortly before the end, and received
        none of these later.
        """
        stops = self.stops(publication)
        if node in stops.copies or node in stops.ended or node not in self.last_forwarded:
            return False
        return self.last_forwarded[node] <= self._received(publication, node) + REORDERING

    @cached_property
    def last_forwarded(self) -> dict[int, float]:
        """Return per node the latest reception among the events that it sent at the end of the run [s]."""
        found: dict[int, float] = {}
        start = self.run.duration - DRAIN
        for publication, copies in self.sent.items():
            for sent in copies:
                if sent.time >= start:
                    received = min(self._received(publication, sent.node), sent.time)
                    found[sent.node] = max(received, found.get(sent.node, 0.0))
        return found

    def _received(self, publication: int, node: int) -> float:
        """Return when a node had an event: its delivery, its publication, or the end of the run [s]."""
        if node == self.publisher(publication):
            return self.published[publication]
        return self.delivered.get((publication, node), self.run.duration)

    def _in_range(self, node: int, time: float) -> list[int]:
        return sorted(self.up.neighbours(node, time, time))

    def _find_subscriptions(self, transmissions: pa.Table) -> dict[int, list[TrailTransmission]]:
        """Return the subscription messages that each node sent, in order of time."""
        found: dict[int, list[TrailTransmission]] = defaultdict(list)
        for row in rows_of(
            rows_of_role(self.run, transmissions, SUBSCRIPTION), "time", "node", "to", "kind", "failed", "end"
        ):
            found[row[1]].append(TrailTransmission(*row))
        for messages in found.values():
            messages.sort()
        return found

    def _find_acks(self, transmissions: pa.Table) -> dict[int, list[float]]:
        """Return when acknowledgements of subscriptions were sent to each node, in order [s]."""
        found: dict[int, list[float]] = defaultdict(list)
        for time, to, failed in rows_of(
            rows_of_role(self.run, transmissions, SUBSCRIPTION_ACK), "time", "to", "failed"
        ):
            if not failed:
                found[to].append(time)
        for times in found.values():
            times.sort()
        return found


def _by_publication(table: pa.Table, kind: Any, *names: str) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = defaultdict(list)
    for publication, *row in rows_of(table, "publication", "time", "node", *names):
        if publication >= 0:
            found[publication].append(kind(*row))
    for rows in found.values():
        rows.sort()
    return dict(found)


def _with_ends(transmissions: pa.Table, duration: float) -> pa.Table:
    """Return the transmissions with a column `end`, the latest end of each [s].

    A row records the start of the first frame. A broadcast has no other frame; a unicast and its retries have
    ended when the same node starts the next message, because a link serves one message at a time.
    """
    time, node = transmissions["time"].to_numpy(), transmissions["node"].to_numpy()
    order = np.lexsort((time, node))
    following = np.full(len(time), duration)
    same = node[order][1:] == node[order][:-1]
    following[order[:-1][same]] = time[order[1:][same]]
    alone = transmissions["to"].to_numpy() < 0
    single = time + transmissions["airtime"].to_numpy() + PROPAGATION
    return transmissions.append_column("end", pa.array(np.where(alone, single, following)))
