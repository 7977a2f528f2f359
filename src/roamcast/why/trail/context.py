"""The parts of a run that explanations of all its events share: movement, outages, subscriptions, servers."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from math import inf
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from roamcast.facts.matching import Matcher
from roamcast.facts.tables import Facts, FactsError, RunManifest
from roamcast.facts.tracks import Tracks
from roamcast.why.proofs.outages import OutageIndex
from roamcast.why.proofs.reachability import Reachability
from roamcast.why.trail.integrity import check_traits

EVENT, SUBSCRIPTION, SUBSCRIPTION_ACK = "carries", "wishes", "grants"
"The roles of messages as `run.json` records them."

ROLES_OF_CATEGORIES = {"event": EVENT, "subscription": SUBSCRIPTION}
"The role of a message whose kind declares none, by its category."

PATH_STEP = 0.1
"Resolution of the end of the last path [s]."


class SubscriptionPeriod(NamedTuple):
    """An interval in which a node was subscribed to a filter."""

    wanted: str
    since: float
    until: float


class RunContext:
    """Reachability, outages, subscriptions and serving nodes of a run."""

    def __init__(self, facts: Facts) -> None:
        """Read the tables legs, states and interests."""
        run = facts.run
        if run.range is None:
            raise FactsError("run.json: the radio range is missing, without which no loss can be explained")
        check_traits(run)
        self.run = run
        tracks = Tracks(facts["legs"], run.nodes)
        tracks.check(run.duration)
        self.reach = Reachability(tracks, run.range)
        "Reachability by movement alone."
        states = facts["states"]
        self.outages = OutageIndex(rows_of(states, "time", "node", "name", "value"))
        self.up = Reachability(tracks, run.range, outages=self.outages) if self.outages else self.reach
        "Reachability by movement, among nodes that were up and had their radio on."
        self.matcher = Matcher(run)
        self.subscription_periods = self._find_periods(facts["interests"])
        self._servers = self._served(states, run.traits.get("served_by") or "")
        self._last_paths: dict[tuple[int, int], float] = {}

    def publisher(self, publication: int) -> int:
        """Return the node that published an event."""
        return publication >> 32

    def server(self, node: int, time: float) -> int:
        """Return the node that served `node` at a time; `node` itself if its states name none."""
        servers = self._servers.get(node, [])
        place = bisect_right(servers, (time, inf))
        return servers[place - 1][1] if place else node

    def last_path(self, start: int, node: int) -> float:
        """Return the latest departure of a path from `start` to `node`, to within `PATH_STEP` [s]."""
        key = (start, node)
        if key not in self._last_paths:
            low, high = 0.0, self.run.duration
            if self.up.meets(start, node, high - PATH_STEP, high):
                low = high
            while high - low > PATH_STEP:
                middle = (low + high) / 2
                if self.up.meets(start, node, middle, self.run.duration):
                    low = middle
                else:
                    high = middle
            self._last_paths[key] = low
        return self._last_paths[key]

    def _served(self, states: pa.Table, name: str) -> dict[int, list[tuple[float, int]]]:
        """Return for each node the times and values of the state `name`, the node that serves it."""
        found: dict[int, list[tuple[float, int]]] = defaultdict(list)
        for time, node, state, value in rows_of(states, "time", "node", "name", "value") if name else ():
            if state == name and 0 <= value < self.run.nodes:
                found[node].append((time, int(value)))
        return found

    def _find_periods(self, interests: pa.Table) -> dict[int, list[SubscriptionPeriod]]:
        begun: dict[tuple[int, str], float] = {}
        found: dict[int, list[SubscriptionPeriod]] = defaultdict(list)
        for time, node, wanted, begins in rows_of(interests, "time", "node", "wanted", "begins"):
            if begins:
                begun[node, wanted] = time
            else:
                found[node].append(SubscriptionPeriod(wanted, begun.pop((node, wanted), 0.0), time))
        for (node, wanted), since in begun.items():
            found[node].append(SubscriptionPeriod(wanted, since, self.run.duration))
        return found


def message_role(run: RunManifest, category: str, kind: str) -> str:
    """Return the role of a kind of message: the one that `run.json` records, or that of its category."""
    role = run.kinds[kind].role if kind in run.kinds else ""
    return role or ROLES_OF_CATEGORIES.get(category, "")


def rows_of_role(run: RunManifest, table: pa.Table, role: str) -> pa.Table:
    """Return the rows of the messages that have a role."""
    kinds, categories = (table[name].combine_chunks() for name in ("kind", "category"))
    known = run.kinds
    declared = [known[kind].role if kind in known else "" for kind in kinds.dictionary.to_pylist()]
    assumed = [ROLES_OF_CATEGORIES.get(name, "") for name in categories.dictionary.to_pylist()]
    has = np.array([each == role for each in declared], bool)
    undeclared = np.array([not each for each in declared], bool)
    may = np.array([each == role for each in assumed], bool)
    if not len(table):
        return table
    kind, category = kinds.indices.to_numpy(), categories.indices.to_numpy()
    return table.take(np.nonzero(has[kind] | (undeclared[kind] & may[category]))[0])


def rows_of(table: pa.Table, *names: str) -> zip[tuple]:  # type: ignore[type-arg]
    """Return the rows of some columns as tuples."""
    return zip(*(table[name].to_pylist() for name in names), strict=True)
