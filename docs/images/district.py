"""Draw docs/images/district.svg from a real run: `python docs/images/district.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

import roamcast
from roamcast.facts.tracks import Tracks

mpl.use("svg")
from matplotlib import pyplot as plt

SEED = 2
NOT_BEFORE = 400.0
ZONE = 8
"The farthest from the shop."
INK, PALE, RING = "#22333b", "#c9cfd3", "#d1495b"


def draw(target: Path) -> None:
    """Run the shopping district and draw the dissemination of one event."""
    result = roamcast.run("shopping", "flooding", SEED)
    publications = result.facts["publications"].to_pandas()
    tracks = Tracks(result.facts["legs"], result.facts.run.nodes)
    sent = result.facts["transmissions"].to_pandas()
    wanted = result.facts["expectations"].to_pandas()
    got = result.facts["deliveries"].to_pandas()

    candidates = publications[
        (publications.time >= NOT_BEFORE) & publications.event.str.contains(f":{ZONE}}}")
    ]
    expected = wanted.groupby("publication").size()
    arrived = got.merge(wanted, on=["publication", "node"]).groupby("publication").size()
    whole = expected[expected == arrived.reindex(expected.index)].index
    coupon = candidates[candidates.publication.isin(whole)].iloc[0]  # one that shows the way to everyone
    began, about = coupon.time, coupon.publication
    heard = sent[sent.publication == about].groupby("node").time.min() - began
    now = pd.DataFrame(tracks.positions(began), columns=["x", "y"])
    targets = wanted[wanted.publication == about].node

    area, side = result.scenario.area, result.scenario.workload.zones.side
    figure, axes = plt.subplots(figsize=(8, 4.6))
    for x in np.arange(side, area.width, side):
        axes.axvline(x, color=PALE, lw=0.8, zorder=0)
    axes.axhline(side, color=PALE, lw=0.8, zorder=0)
    for node in range(tracks.nodes):
        turns = tracks.end[(tracks.node == node) & (tracks.end > began - 120) & (tracks.end < began)]
        track = np.array([tracks.position(node, time) for time in [began - 120, *turns, began]])
        axes.plot(*track.T, color=PALE, lw=1.2, zorder=1)
    axes.scatter(now.x, now.y, s=28, color="white", edgecolor=PALE, zorder=2)
    forwarders = now.loc[heard.index]
    shade = axes.scatter(
        forwarders.x, forwarders.y, c=1000 * heard, s=42, cmap="viridis", edgecolor="white", lw=0.6, zorder=3
    )
    ringed = now.loc[targets]
    axes.scatter(ringed.x, ringed.y, s=170, facecolor="none", edgecolor=RING, lw=1.6, zorder=4)
    axes.annotate("shop", (0, 0), (12, 14), textcoords="offset points", color=INK)
    axes.set(
        xlim=(-15, area.width + 15), ylim=(-15, area.height + 15), aspect="equal", xlabel="m", ylabel="m"
    )
    bar = figure.colorbar(shade, ax=axes, shrink=0.7, pad=0.02)
    bar.set_label("forwarded after, ms")
    late = 1000 * (got[got.publication == about].time.max() - began)
    title = (
        f"Dissemination of one event: all {len(targets)} subscribers (rings) receive it within {late:.0f} ms"
    )
    axes.set_title(title, fontsize=10, color=INK, loc="left")
    for spine in axes.spines.values():
        spine.set_color(PALE)
    figure.tight_layout()
    mpl.rcParams["svg.hashsalt"] = "roamcast"  # the same picture is the same file
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    draw(Path(__file__).with_suffix(".svg"))
