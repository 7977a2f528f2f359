"""The communities and the positions of the nodes at one time of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from roamcast.facts.tables import Facts
from roamcast.facts.tracks import Tracks
from roamcast.metrics.communities import ORPHAN, STATE


@dataclass(frozen=True)
class CommunitySnapshot:
    """The communities and the positions of the nodes at one time of a run."""

    title: str
    moment: float
    belongs: dict[int, int]
    "The principal of each node."
    places: npt.NDArray[np.float64]

    @property
    def sizes(self) -> Counter[int]:
        """Return the number of members of each community, by its principal."""
        return Counter(self.belongs.values())

    @property
    def orphans(self) -> int:
        """Return the number of communities with fewer than three members."""
        return sum(size < ORPHAN for size in self.sizes.values())

    def describe(self) -> str:
        """Return the title with the numbers of communities and orphans."""
        return f"{self.title}: {len(self.sizes)} communities, {self.orphans} of them orphans"


def community_snapshot(facts: Facts, title: str, moment: float | None = None) -> CommunitySnapshot | None:
    """Return the communities at `moment` [s], by default halfway from the warm-up to the end, or None."""
    run, states = facts.run, facts["states"]
    now = (run.warmup + run.duration) / 2 if moment is None else moment
    rows = zip(*(states[name].to_pylist() for name in ("time", "node", "value", "name")), strict=True)
    states = sorted((time, node, value) for time, node, value, name in rows if name == STATE and time <= now)
    belongs = {node: int(value) for _, node, value in states}
    return (
        CommunitySnapshot(title, now, belongs, Tracks(facts["legs"], run.nodes).positions(now))
        if belongs
        else None
    )
