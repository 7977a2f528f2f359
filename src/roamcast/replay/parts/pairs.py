"""Pairs of an event and a node: who expected it and who got it, joined for some events at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.tables import Facts
from roamcast.replay.charts import BINS, bin_times
from roamcast.replay.parts.air import check_nodes
from roamcast.replay.parts.rows import HELD_BYTES, EventRows, GroupedTables, HeldTables, TimedRows

EVENTS = 1 << 16
"Events whose pairs are joined at once."

SLOWEST = 8
"Deliveries that the overview lists."

_NODE_BITS = 32

Numbers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class EventNumbers:
    """Numbers events from 0, in the order of the publications."""

    def __init__(self, ids: Numbers) -> None:
        self._order = np.argsort(ids, kind="stable")
        self._ids = ids[self._order]

    def of(self, publications: Numbers) -> Numbers:
        """Return the number of each event; -1 where none is meant or known."""
        if not len(self._ids):
            return np.full(len(publications), -1)
        at = np.minimum(np.searchsorted(self._ids, publications), len(self._ids) - 1)
        return np.where(self._ids[at] == publications, self._order[at], -1)


class SlowDelivery(NamedTuple):
    """A delivery, with its delay [s]."""

    delay: float
    event: int
    node: int


class Pairs:
    """Expected and made deliveries of a run: counts of each event, and the nodes of one event."""

    def __init__(self, facts: Facts, publications: pa.Table, source: GroupedTables | None) -> None:
        """Count the pairs of `publications`, which are in order of time, `EVENTS` of them at a time."""
        run = facts.run
        held_bytes = None if source is None else HELD_BYTES
        source = HeldTables(facts) if source is None else source
        self._ids: Numbers = publications["publication"].to_numpy()
        self._published: Reals = publications["time"].to_numpy()
        self._numbers = EventNumbers(self._ids)
        self._width, self._warmup = run.duration / BINS, run.warmup
        self.counted_only = False
        "Whether the facts have numbers of nodes that expected an event instead of the nodes."
        self.first = run.duration
        "When the first delivery after the warm-up was made; the end of the run if there is none [s]."

        def see_expectations(rows: pa.Table) -> None:
            self.counted_only |= bool((rows["node"].to_numpy() < 0).any())

        def see_deliveries(rows: pa.Table) -> None:
            check_nodes(run, "deliveries", rows)
            times = rows["time"].to_numpy()
            self.first = float(min(times[times > run.warmup].min(initial=np.inf), self.first))

        self.expectations = EventRows(source, "expectations", ("node",), see_expectations)
        self.deliveries = TimedRows(source, "deliveries", ("time", "node"), see_deliveries, held_bytes)
        self.wanted = np.zeros(len(self._ids), np.int64)
        "Number of nodes that expected each event."
        self.delivered = np.zeros(len(self._ids), np.int64)
        "Number of these that got it."
        self.slowest: list[SlowDelivery] = []
        "The longest delays of events published after the warm-up, longest first."
        self.delay = np.full(BINS, np.nan)
        "Median delay of the events published in each bin [s]."
        self._waiting: tuple[Numbers, Reals] = np.zeros(0, np.int64), np.zeros(0)
        for start in range(0, len(self._ids), EVENTS):
            self._join(start, min(start + EVENTS, len(self._ids)))

    @property
    def share(self) -> Reals:
        """The share of expected deliveries that were made, by when events were published."""
        bins = bin_times(self._published, self._width)
        expected, made = (np.bincount(bins, counts, BINS) for counts in (self.wanted, self.delivered))
        share: Reals = np.divide(made, expected, out=np.full(BINS, np.nan), where=expected > 0)
        return share

    def count(self) -> dict[str, int]:
        """Return how many deliveries of events published after the warm-up were expected and lost."""
        late = self._published >= self._warmup
        expected = int(self.wanted[late].sum())
        return {"expected": expected, "lost": expected - int(self.delivered[late].sum())}

    def nodes_wanting(self, event: int) -> list[int]:
        """Return the nodes that expected an event, sorted."""
        rows = self.expectations.of_events(self._ids[event : event + 1], ("publication", "node"))
        nodes = rows["node"].to_numpy()
        found: list[int] = np.sort(nodes[nodes >= 0]).tolist()
        return found

    def nodes_reached(self, event: int) -> dict[int, float]:
        """Return when each node got an event [s], in order of time."""
        rows = self.deliveries.of_event(int(self._ids[event]))
        found: dict[int, float] = {}
        for node, time in zip(rows["node"].to_pylist(), rows["time"].to_pylist(), strict=True):
            found.setdefault(node, time)
        return found

    def expected_pairs(self) -> tuple[Numbers, Numbers]:
        """Return event and node of all expected deliveries, sorted."""
        pairs = self._pairs_of(self.expectations, self._ids, ("publication", "node"))[0]
        pairs = np.sort(pairs[pairs >= 0])  # one number to sort: there may be millions
        return pairs >> _NODE_BITS, pairs & 0xFFFFFFFF

    def _pairs_of(self, rows: EventRows, ids: Numbers, columns: tuple[str, ...]) -> tuple[Numbers, pa.Table]:
        """Return event and node of each row of some events as one number, -1 if not known; and the rows."""
        table = rows.of_events(ids, columns)
        events, nodes = self._numbers.of(table["publication"].to_numpy()), table["node"].to_numpy()
        known = (events >= 0) & (nodes >= 0)
        return np.where(known, events << _NODE_BITS | nodes.astype(np.int64), -1), table

    def _join(self, start: int, end: int) -> None:
        """Count the pairs of the events from number `start` to before `end`, and their delays."""
        ids = self._ids[start:end]
        expected = self._pairs_of(self.expectations, ids, ("publication", "node"))[0]
        expected = expected[expected >= 0]
        made, table = self._pairs_of(self.deliveries, ids, ("publication", "node", "time"))
        order = np.lexsort((table["time"].to_numpy(), made))
        made, times = made[order], table["time"].to_numpy()[order]
        at = np.searchsorted(made, expected)  # the first delivery of a pair that was delivered twice
        got = np.append(made, -1)[at] == expected
        events = expected >> _NODE_BITS
        self.wanted[start:end] = np.bincount(events - start, minlength=end - start)
        self.delivered[start:end] = np.bincount(events[got] - start, minlength=end - start)
        events, nodes = events[got], expected[got] & 0xFFFFFFFF
        delays = times[at[got]] - self._published[events]
        self._note_slowest(events, nodes, delays)
        self._note_delays(bin_times(self._published[events], self._width), delays, end)

    def _note_slowest(self, events: Numbers, nodes: Numbers, delays: Reals) -> None:
        late = np.flatnonzero(self._published[events] >= self._warmup)
        longest = late[np.argsort(-delays[late], kind="stable")[:SLOWEST]]
        found = [
            SlowDelivery(*row)
            for row in zip(*(each[longest].tolist() for each in (delays, events, nodes)), strict=True)
        ]
        self.slowest = sorted([*self.slowest, *found], key=lambda each: -each.delay)[:SLOWEST]

    def _note_delays(self, bins: Numbers, delays: Reals, end: int) -> None:
        """Compute the median of each bin to which no later event belongs; keep the delays of the last bin."""
        bins = np.concatenate([self._waiting[0], bins])
        delays = np.concatenate([self._waiting[1], delays])
        last = end == len(self._ids)
        open_bin = BINS if last else int(bin_times(self._published[end : end + 1], self._width)[0])
        for each in np.unique(bins[bins < open_bin]).tolist():
            self.delay[each] = np.median(delays[bins == each])
        later = bins >= open_bin
        self._waiting = bins[later], delays[later]
