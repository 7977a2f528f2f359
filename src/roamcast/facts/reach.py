"""Reach: who could have heard of something by when, whatever the protocol, from positions alone.

Positions are sampled. Between two samples nodes are taken to move in a straight line, and two of them
count as joined for the whole of that time if they come within range at any moment of it. So paths are seen
generously: what is unreachable here was unreachable.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class Reach:
    """The network that changes with time, as far as positions tell."""

    def __init__(self, positions: pa.Table, nodes: int, range: float) -> None:
        times = positions["time"].to_numpy()
        self.times = np.unique(times)
        order = np.lexsort((positions["node"].to_numpy(), times))
        xy = np.stack([positions["x"].to_numpy()[order], positions["y"].to_numpy()[order]], axis=-1)
        self.places = xy.reshape(len(self.times), nodes, 2)
        self.range = range
        self.nodes = nodes
        self._joined = lru_cache(maxsize=None)(self._joins)
        self.first_hearing = lru_cache(maxsize=4096)(self._first_hearing)

    def step(self, time: float) -> int:
        """The sample before `time`."""
        return max(int(np.searchsorted(self.times, time, "right")) - 1, 0)

    def place(self, node: int, time: float) -> npt.NDArray[np.float64]:
        """Where a node was."""
        step = self.step(time)
        here: npt.NDArray[np.float64] = self.places[step, node]
        if step + 1 == len(self.times):
            return here
        share = (time - self.times[step]) / (self.times[step + 1] - self.times[step])
        return np.asarray(here + share * (self.places[step + 1, node] - here))

    def distance(self, a: int, b: int, time: float) -> float:
        """Metres between two nodes."""
        return float(np.hypot(*(self.place(a, time) - self.place(b, time))))

    def together(self, a: int, b: int, time: float) -> bool:
        """Whether a path joined two nodes at about that time."""
        reached = np.zeros(self.nodes, bool)
        reached[a] = True
        return bool(_spread(self._joined(self.step(time)), reached)[b])

    def meets(self, source: int, target: int, since: float, until: float) -> bool:
        """Whether word could have come from `source` to `target` between two moments, carried by anyone."""
        first = self.first_hearing(source, self.step(since))[target]
        return bool(first <= until)

    def _first_hearing(self, source: int, step: int) -> npt.NDArray[np.float64]:
        """For each node the first time at which word from `source` could have come to it."""
        reached = np.zeros(self.nodes, bool)
        reached[source] = True
        first = np.full(self.nodes, inf)
        for later in range(step, len(self.times)):
            reached = _spread(self._joined(later), reached)
            first[reached & np.isinf(first)] = self.times[later]
            if reached.all():
                break
        return first

    def _joins(self, step: int) -> npt.NDArray[np.bool_]:
        """Who comes within range of whom between a sample and the next."""
        start = self.places[step]
        end = self.places[min(step + 1, len(self.times) - 1)]
        apart = start[:, None] - start[None]
        drift = (end[:, None] - end[None]) - apart
        speed = (drift**2).sum(-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            nearest = np.clip(np.nan_to_num(-(apart * drift).sum(-1) / speed), 0.0, 1.0)
        closest = apart + nearest[..., None] * drift
        return np.asarray((closest**2).sum(-1) <= self.range**2)


def _spread(joined: npt.NDArray[np.bool_], reached: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    while True:
        wider = reached | joined[reached].any(axis=0)
        if (wider == reached).all():
            return wider
        reached = wider
