"""Draw docs/images/communities.svg from real runs, as figure 5 of the CLONE paper has them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import matplotlib as mpl
import numpy as np

import roamcast
from roamcast.facts.tables import Facts
from roamcast.facts.tracks import Tracks

mpl.use("svg")
from matplotlib import pyplot as plt

SEED = 101
MOMENT = 290.0
INK, PALE, ALONE = "#22333b", "#c9cfd3", "#d1495b"


def memberships(facts: Facts, moment: float) -> dict[int, int]:
    """To which community each node belonged."""
    found: dict[int, int] = {}
    for time, node, name, value in zip(
        *(facts["states"][column].to_pylist() for column in ("time", "node", "name", "value")), strict=True
    ):
        if name == "community" and time <= moment:
            found[node] = int(value)
    return found


def draw(target: Path) -> None:
    """Basic communities beside enhanced ones, orphans marked."""
    plt.rcParams["svg.hashsalt"] = "roamcast"
    figure, panels = plt.subplots(1, 2, figsize=(10, 5.2))
    for panel, enhanced in zip(panels, (False, True), strict=True):
        settings = (
            *('duration="300 s"', 'warmup="0 s"', 'quiet="0 s"', 'nodes.drivers.speed.max="2 m/s"'),
            f"protocol.clone.enhanced={str(enhanced).lower()}",
        )
        facts = roamcast.run("city", "clone", SEED, settings).facts
        belongs = memberships(facts, MOMENT)
        places = Tracks(facts["legs"], facts.run.nodes).places(MOMENT)
        sizes = Counter(belongs.values())
        colours = plt.cm.tab20(np.linspace(0, 1, 20))
        for node, principal in belongs.items():
            few = sizes[principal] < 3
            colour = ALONE if few else colours[principal % 20]
            panel.plot(*zip(places[node], places[principal], strict=True), color=colour, lw=0.6, zorder=1)
            look = {"s": 60, "marker": "*"} if node == principal else {"s": 12, "marker": "o"}
            panel.scatter(*places[node], color=colour, zorder=2, **look)
        orphans = sum(size < 3 for size in sizes.values())
        title = "enhanced" if enhanced else "basic"
        panel.set_title(f"{title}: {len(sizes)} communities, {orphans} of them orphans", color=INK)
        panel.set_aspect("equal")
        panel.tick_params(colors=INK, labelsize=7)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    draw(Path(__file__).with_name("communities.svg"))
