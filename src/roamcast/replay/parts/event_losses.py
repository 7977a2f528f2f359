"""Losses of one event in a run that is read in parts, from those rows that its explanation needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, FactsError
from roamcast.replay.losses import Loss, explain_loss
from roamcast.replay.parts.air import Air
from roamcast.replay.parts.pairs import Pairs
from roamcast.replay.parts.rows import column, in_order, join_rows
from roamcast.why.dissemination.reliable_delivery import AT_WORK
from roamcast.why.dissemination.routed import PAUSE
from roamcast.why.explainer import Explainer
from roamcast.why.trail.context import SUBSCRIPTION, SUBSCRIPTION_ACK, RunContext, message_role
from roamcast.why.trail.integrity import COUNTS_ONLY
from roamcast.why.trail.trail import DRAIN, Trail

MOST_ROWS = 1_000_000
"Rows of one explanation; more would need too much memory."


class EventLosses:
    """Explains the losses of single events."""

    def __init__(self, facts: Facts, air: Air, pairs: Pairs) -> None:
        """Read movement, states and interests of the run; raise FactsError if they explain nothing."""
        if pairs.counted_only:
            raise FactsError(COUNTS_ONLY)
        run = facts.run
        self._facts, self._air, self._pairs, self._traits = facts, air, pairs, run.traits
        self._context = RunContext(facts)
        roles = [message_role(run, *pair) for pair in air.messages]
        self._subscribes = np.array([role == SUBSCRIPTION for role in roles], bool)
        self._acknowledges = np.array([role == SUBSCRIPTION_ACK for role in roles], bool)
        self._outstanding: dict[int, tuple[pa.Table, pa.Table]] = {}

    def explain(self, publication: pa.Table, missing: Sequence[int]) -> list[Loss]:
        """Return why each of the nodes `missing` did not get the event, a row of the publications."""
        if not missing:
            return []
        event = publication["publication"][0].as_py()
        explainer = Explainer(self.select(publication, missing))
        return [explain_loss(explainer, event, node) for node in missing]

    def select(self, publication: pa.Table, missing: Sequence[int]) -> Trail:
        """Return the rows that explain why the nodes `missing` did not get the event."""
        event = publication["publication"][0].as_py()
        tables = {name: schema.empty_table() for name, schema in TABLES.items()}
        tables["publications"] = publication
        trail = Trail(Facts(self._context.run, tables), self._context)  # without rows: for its subscriptions
        tables |= self._select(trail, event, missing)
        if (rows := sum(map(len, tables.values()))) > MOST_ROWS:
            raise FactsError(f"this explanation needs {rows:,} rows; expected at most {MOST_ROWS:,}")
        found = Trail(Facts(self._context.run, tables), self._context)
        if self._traits.get("travel") != "addressed":  # others may be searched as floods
            found.last_forwarded = self._last_forwarded
        return found

    @cached_property
    def _last_forwarded(self) -> dict[int, float]:
        """Return `last_forwarded` of the whole run, which needs rows of other events."""
        tables = {name: schema.empty_table() for name, schema in TABLES.items()}
        rows = self._air.transmissions.between(self._context.run.duration - DRAIN, np.inf)
        events = np.unique(column(rows, "publication"))
        tables |= {
            "publications": self._facts["publications"],
            "transmissions": rows,
            "deliveries": self._pairs.deliveries.of_events(events[events >= 0], TABLES["deliveries"].names),
        }
        return Trail(Facts(self._context.run, tables), self._context).last_forwarded

    def _select(self, trail: Trail, event: int, missing: Sequence[int]) -> dict[str, pa.Table]:
        """Return the rows that `Explainer` looks at for an event and these nodes."""
        air, pairs, publisher = self._air, self._pairs, trail.publisher(event)
        copies, drops = air.transmissions.of_event(event), air.drops.of_event(event)
        sent = [copies, self._followers(copies)]
        expected = [pairs.expectations.of_events(np.array([event]), TABLES["expectations"].names)]
        delivered = [pairs.deliveries.of_event(event)]
        lost = [drops]
        if self._traits.get("promise") == "until_acknowledged":
            sent += [self._any_subscription, self._acknowledgements(missing)]
            if self._traits.get("ordered"):
                owed, last = self._outstanding_of(publisher)
                ends = {trail.last_path(publisher, node) for node in missing}
                expected.append(owed.filter(pa.array(column(owed, "publication") != event)))
                delivered += [last, *(self._completed(publisher, end) for end in sorted(ends))]
        elif self._traits.get("travel") == "tree":
            lease = self._traits.get("subscription_lease")
            end = trail.published[event]
            start = -np.inf if lease is None else end - lease
            sent += [
                self._any_subscription,
                self._of_role(air.transmissions.between(start, np.nextafter(end, np.inf)), self._subscribes),
            ]
        elif self._traits.get("travel") == "routed":
            sent += [self._subscriptions_by(missing), self._floods(trail, event, missing)]
        elif self._traits.get("travel") == "addressed":
            servers = {trail.server(node, trail.published[event]) for node in missing}
            sent += [self._any_subscription, self._subscriptions_by([*missing, *servers])]
            if self._traits.get("served_by"):
                lost.append(self._dropped_subscriptions(servers, publisher))
        parts = {"transmissions": sent, "drops": lost, "expectations": expected, "deliveries": delivered}
        return {name: join_rows([TABLES[name].empty_table(), *rows]) for name, rows in parts.items()}

    def _followers(self, copies: pa.Table) -> pa.Table:
        """Return the next message of each node after each of its copies, when a unicast has ended."""
        found = [TABLES["transmissions"].empty_table()]
        if not len(copies):
            return found[0]
        event, senders = column(copies, "publication")[0], np.unique(column(copies, "node"))
        last, waiting = column(copies, "time")[-1], np.zeros(self._context.run.nodes, bool)
        for block in self._air.transmissions.following(column(copies, "time")[0]):
            rows = block.take(np.flatnonzero(np.isin(column(block, "node"), senders)))
            rows = in_order(rows, "node", "time")
            nodes, copied = column(rows, "node"), column(rows, "publication") == event
            first = np.append(True, nodes[1:] != nodes[:-1])[: len(nodes)]
            after = np.where(first, waiting[nodes], np.append(False, copied)[: len(nodes)])
            found.append(rows.filter(pa.array(after & ~copied)))
            final = np.append(first[1:], True)[: len(nodes)]
            waiting[nodes[final]] = copied[final]
            if len(block) and column(block, "time")[-1] > last and not waiting.any():
                break
        return join_rows(found)

    @cached_property
    def _any_subscription(self) -> pa.Table:
        """A subscription message, if the protocol sends any; that it does is part of some explanations."""
        for block in self._air.transmissions.following(-np.inf) if self._subscribes.any() else ():
            rows = self._of_role(block, self._subscribes)
            if len(rows):
                return rows.slice(0, 1)
        return TABLES["transmissions"].empty_table()

    def _of_role(self, rows: pa.Table, has_role: npt.NDArray[np.bool_]) -> pa.Table:
        return rows.filter(pa.array(has_role[self._air.number_messages(rows)]))

    def _subscriptions_by(self, nodes: Sequence[int]) -> pa.Table:
        """Return the subscription messages that some nodes sent."""
        return self._air.transmissions.where(
            ("node", "category", "kind"),
            lambda rows: (
                np.isin(column(rows, "node"), nodes) & self._subscribes[self._air.number_messages(rows)]
            ),
        )

    def _acknowledgements(self, nodes: Sequence[int]) -> pa.Table:
        """Return the acknowledgements of subscriptions that were sent to some nodes."""
        return self._air.transmissions.where(
            ("to", "category", "kind"),
            lambda rows: (
                np.isin(column(rows, "to"), nodes) & self._acknowledges[self._air.number_messages(rows)]
            ),
        )

    def _dropped_subscriptions(self, nodes: Iterable[int], publisher: int) -> pa.Table:
        """Return the subscription messages that some nodes dropped, or others on their way to a publisher."""
        return self._air.drops.where(
            ("node", "peer", "category", "kind"),
            lambda rows: (
                (np.isin(column(rows, "node"), list(nodes)) | (column(rows, "peer") == publisher))
                & self._subscribes[self._air.number_messages(rows)]
            ),
        )

    def _floods(self, trail: Trail, event: int, nodes: Sequence[int]) -> pa.Table:
        """Return the subscription messages from the first one of each node until a pause."""
        own, found = self._subscriptions_by(nodes), [TABLES["transmissions"].empty_table()]
        covered = -np.inf
        for start in sorted(_first_times(own, trail, event, nodes)):
            if start <= covered:
                continue
            covered = start
            for block in self._air.transmissions.following(start):
                rows = self._of_role(block, self._subscribes)
                times = np.append(covered, column(rows, "time"))
                pauses = np.flatnonzero(np.diff(times) > PAUSE)
                kept = int(pauses[0]) if len(pauses) else len(rows)
                found.append(rows.slice(0, kept))
                covered = float(times[kept])
                if len(pauses) or (len(block) and column(block, "time")[-1] > covered + PAUSE):
                    break
        return join_rows(found)

    def _outstanding_of(self, publisher: int) -> tuple[pa.Table, pa.Table]:
        """Return the expectations after a publisher's last delivery to each node, and these deliveries."""
        if publisher not in self._outstanding:
            latest = np.full(self._context.run.nodes, -1, np.int64)
            for rows in self._pairs.deliveries.scan(("publication", "node")):
                events, nodes = column(rows, "publication"), column(rows, "node")
                own = events >> 32 == publisher
                np.maximum.at(latest, nodes[own], events[own])
            last = self._pairs.deliveries.of_events(np.unique(latest), TABLES["deliveries"].names)
            last = last.filter(pa.array(column(last, "publication") == latest[column(last, "node")]))
            owed = self._pairs.expectations.where(
                ("publication", "node"),
                lambda rows: (
                    (column(rows, "publication") >> 32 == publisher)
                    & (column(rows, "publication") > latest[column(rows, "node")])
                ),
            )
            self._outstanding[publisher] = owed, last
        return self._outstanding[publisher]

    def _completed(self, publisher: int, end: float) -> pa.Table:
        """Return the deliveries of a publisher in the last seconds before `end` [s]."""
        rows = self._pairs.deliveries.between(end - AT_WORK, float(np.nextafter(end, np.inf)))
        return rows.filter(pa.array(column(rows, "publication") >> 32 == publisher))


def _first_times(own: pa.Table, trail: Trail, event: int, nodes: Sequence[int]) -> Iterator[float]:
    """Yield when each node first sent a subscription in the period of the one that matches the event [s]."""
    for node in nodes:
        period = trail.matching_subscription(event, node)
        times = column(own, "time")[column(own, "node") == node]
        times = times[times >= (period.since if period is not None else 0.0)]
        if len(times):
            yield float(times.min())
