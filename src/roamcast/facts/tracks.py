"""The positions of nodes at any time, from the legs of their movement."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.tables import FactsError

Reals = npt.NDArray[np.float64]
Nodes = npt.NDArray[np.int64]


class Tracks:
    """The movement of all nodes: straight legs without gaps, as columns sorted by node, then time."""

    def __init__(self, legs: pa.Table, nodes: int) -> None:
        columns = {name: legs[name].to_numpy() for name in legs.column_names}
        order = np.lexsort((columns["start"], columns["node"]))
        self.node: Nodes = columns["node"][order].astype(np.int64)
        self.start: Reals = columns["start"][order]
        self.end: Reals = columns["end"][order]
        self.place0 = np.stack([columns["x0"][order], columns["y0"][order]], axis=-1)
        "Start position of each leg [m]."
        self.place1 = np.stack([columns["x1"][order], columns["y1"][order]], axis=-1)
        "End position of each leg [m]."
        lasting = (self.end - self.start)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = (self.place1 - self.place0) / lasting
        self.velocity = np.where(lasting > 0, moved, 0.0)
        "Velocity on each leg [m/s]."
        self.nodes = nodes
        self.first = np.searchsorted(self.node, np.arange(nodes + 1))
        "Index of the first leg of each node; a last entry closes the last node."

    def check(self, duration: float) -> None:
        """Raise FactsError if the legs of a node do not cover the run's `duration` [s]."""
        for node in range(self.nodes):
            own = slice(self.first[node], self.first[node + 1])
            start, end = self.start[own], self.end[own]
            if not len(start) or start[0] > 0 or end[-1] < duration or (start[1:] > end[:-1]).any():
                raise FactsError(f"legs: the legs of node {node} do not cover the run, 0 to {duration:g} s")

    def position(self, node: int, time: float) -> Reals:
        """Return the position of a node at a time [m]; it stands before its first and after its last leg."""
        own = slice(self.first[node], self.first[node + 1])
        leg = self.first[node] + max(int(np.searchsorted(self.start[own], time, "right")) - 1, 0)
        if time >= self.end[leg]:
            return np.asarray(self.place1[leg])
        passed = max(time - self.start[leg], 0.0)
        return np.asarray(self.place0[leg] + passed * self.velocity[leg])

    def positions(self, time: float) -> Reals:
        """Return the positions of all nodes at a time, in order of node [m]."""
        return np.array([self.position(node, time) for node in range(self.nodes)]).reshape(-1, 2)
