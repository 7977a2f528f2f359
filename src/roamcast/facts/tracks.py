"""Tracks: where everyone was at any moment, from the legs of their movement."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.tables import FactsError

Reals = npt.NDArray[np.float64]
Nodes = npt.NDArray[np.int64]


class Tracks:
    """Everyone's movement: straight legs without gaps, as columns sorted by node and then time."""

    def __init__(self, legs: pa.Table, nodes: int) -> None:
        columns = {name: legs[name].to_numpy() for name in legs.column_names}
        order = np.lexsort((columns["start"], columns["node"]))
        self.node: Nodes = columns["node"][order].astype(np.int64)
        self.start: Reals = columns["start"][order]
        self.end: Reals = columns["end"][order]
        self.place0 = np.stack([columns["x0"][order], columns["y0"][order]], axis=-1)
        "Where each leg starts."
        self.place1 = np.stack([columns["x1"][order], columns["y1"][order]], axis=-1)
        "Where it ends."
        lasting = (self.end - self.start)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = (self.place1 - self.place0) / lasting
        self.velocity = np.where(lasting > 0, moved, 0.0)
        "In m/s."
        self.nodes = nodes
        self.first = np.searchsorted(self.node, np.arange(nodes + 1))
        "The first leg of each node."

    def check(self, duration: float) -> None:
        """Refuse movement that leaves open where somebody was at some time of the run."""
        for node in range(self.nodes):
            own = slice(self.first[node], self.first[node + 1])
            start, end = self.start[own], self.end[own]
            if not len(start) or start[0] > 0 or end[-1] < duration or (start[1:] > end[:-1]).any():
                raise FactsError(f"legs: they do not tell where node {node} was at all times of the run")

    def position(self, node: int, time: float) -> Reals:
        """Where a node was; before its first leg and after its last it stands still."""
        own = slice(self.first[node], self.first[node + 1])
        leg = self.first[node] + max(int(np.searchsorted(self.start[own], time, "right")) - 1, 0)
        if time >= self.end[leg]:
            return np.asarray(self.place1[leg])
        passed = max(time - self.start[leg], 0.0)
        return np.asarray(self.place0[leg] + passed * self.velocity[leg])

    def positions(self, time: float) -> Reals:
        """Where everyone was, in order of node."""
        return np.array([self.position(node, time) for node in range(self.nodes)]).reshape(-1, 2)
