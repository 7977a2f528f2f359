"""The trail of events: the facts of a run, ordered for questions about one event or one node."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from roamcast.why.reach import Reach
from roamcast.facts.tables import Facts, FactsError
from roamcast.facts.tracks import Tracks

LINK_LOSSES = {"collided", "captured", "weak", "deaf"}
"A frame that came and could not be understood."


class Sent(NamedTuple):
    """A message that a node put on the air."""

    time: float
    node: int
    to: int
    kind: str
    failed: bool


class Lost(NamedTuple):
    """A message that went no further."""

    time: float
    node: int
    peer: int
    kind: str
    cause: str


class Wanting(NamedTuple):
    """A time in which a node wanted something."""

    wanted: str
    since: float
    until: float


class Trail:
    """What happened to each event, and what each node had asked for."""

    def __init__(self, facts: Facts) -> None:
        run = facts.run
        if run.range is None:
            raise FactsError(
                "these facts do not tell the radio range, without which no loss can be explained"
            )
        self.run = run
        tracks = Tracks(facts["legs"], run.nodes)
        tracks.check(run.duration)
        self.reach = Reach(tracks, run.range)
        publications = facts["publications"]
        self.published = dict(
            zip(publications["publication"].to_pylist(), publications["time"].to_pylist(), strict=True)
        )
        self.contents = dict(
            zip(publications["publication"].to_pylist(), publications["event"].to_pylist(), strict=True)
        )
        self.delivered: dict[tuple[int, int], float] = {}
        for publication, node, time in _rows(facts["deliveries"], "publication", "node", "time"):
            self.delivered.setdefault((publication, node), time)
        self.expected = list(_rows(facts["expectations"], "publication", "node"))
        self.sent = self._events(facts["transmissions"])
        self.lost: dict[int, list[Lost]] = defaultdict(list)
        for publication, *row in _rows(
            facts["drops"], "publication", "time", "node", "peer", "kind", "cause"
        ):
            if publication >= 0:
                self.lost[publication].append(Lost(*row))
        self.wanting = self._wanting(facts["interests"])
        self.asked, self.answered = self._subscriptions(facts["transmissions"])

    def publisher(self, publication: int) -> int:
        """The node that published an event."""
        return publication >> 32

    def misses(self) -> list[tuple[int, int]]:
        """Events and nodes that should have got them after the warm-up, and did not."""
        return [
            (publication, node)
            for publication, node in self.expected
            if self.published[publication] >= self.run.warmup and (publication, node) not in self.delivered
        ]

    def parents(self, node: int, time: float, life: float) -> list[tuple[float, int]]:
        """The neighbours that had heard a subscription of `node` lately, the latest first, and when."""
        asked = self.asked.get(node, [])
        latest: dict[int, float] = {}
        for sent in reversed(asked[: bisect_right(asked, time, key=lambda s: s.time)]):
            if sent.time < time - life:
                break
            if not sent.failed:
                latest.setdefault(sent.to, sent.time)
        return sorted(((when, parent) for parent, when in latest.items()), reverse=True)

    def _events(self, transmissions: pa.Table) -> dict[int, list[Sent]]:
        category = np.asarray(transmissions["category"].to_pylist())
        chosen = transmissions.take(np.nonzero(category == "event")[0])
        sent: dict[int, list[Sent]] = defaultdict(list)
        for publication, *row in _rows(chosen, "publication", "time", "node", "to", "kind", "failed"):
            sent[publication].append(Sent(*row))
        for copies in sent.values():
            copies.sort()
        return sent

    def _subscriptions(self, transmissions: pa.Table) -> tuple[dict[int, list[Sent]], dict[int, list[float]]]:
        """Subscriptions by the node that sent them, and acknowledgements of them by whom they reached."""
        kinds = np.asarray(transmissions["kind"].to_pylist())
        chosen = transmissions.take(
            np.nonzero(np.isin(kinds, ["Subscription", "Subscribe", "SubscribeAck"]))[0]
        )
        asked: dict[int, list[Sent]] = defaultdict(list)
        answered: dict[int, list[float]] = defaultdict(list)
        for row in _rows(chosen, "time", "node", "to", "kind", "failed"):
            sent = Sent(*row)
            if sent.kind != "SubscribeAck":
                asked[sent.node].append(sent)
            elif not sent.failed:
                answered[sent.to].append(sent.time)
        for messages in asked.values():
            messages.sort()
        for times in answered.values():
            times.sort()
        return asked, answered

    def _wanting(self, interests: pa.Table) -> dict[int, list[Wanting]]:
        open_: dict[tuple[int, str], float] = {}
        found: dict[int, list[Wanting]] = defaultdict(list)
        for time, node, wanted, begins in _rows(interests, "time", "node", "wanted", "begins"):
            if begins:
                open_[node, wanted] = time
            else:
                found[node].append(Wanting(wanted, open_.pop((node, wanted), 0.0), time))
        for (node, wanted), since in open_.items():
            found[node].append(Wanting(wanted, since, self.run.duration))
        return found


def _rows(table: pa.Table, *names: str) -> zip[tuple]:  # type: ignore[type-arg]
    return zip(*(table[name].to_pylist() for name in names), strict=True)
