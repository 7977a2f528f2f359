"""Maps of communities, as routers reported them at one moment of a run; orphans are marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from roamcast.campaign.plan import point_text
from roamcast.errors import UserError
from roamcast.lake.reading import read_run
from roamcast.metrics.communities import ORPHAN
from roamcast.metrics.community_snapshot import CommunitySnapshot, community_snapshot
from roamcast.report.drawings.figures import COLOURS, STYLE, canvas, save_drawing, svg_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from roamcast.report.result import CampaignResult

_INK, _ALONE = "#22333b", "#d1495b"
_SIZE = (5.2, 5.4)


def community_snapshots(result: CampaignResult, figure: str) -> list[CommunitySnapshot]:
    """Return the snapshots for a figure about orphans: each protocol at the first point, in its first run."""
    shown = result.campaign.figures[figure]
    if not any("orphans" in stack for stack in shown.y):
        return []
    sweep = result.campaign.sweeps[shown.sweep]
    first = point_text(sweep.expand()[0])
    found = []
    for label in sweep.protocols:
        runs = [
            (int(row["seed"]), row["run"])
            for row in result.tables["points"]
            if (row["sweep"], row["point"], row["protocol"]) == (shown.sweep, first, label)
        ]
        try:
            facts = read_run(str(result.store.folder), min(runs)[1])
            found.append(community_snapshot(facts, result.campaign.protocols[label].title or label))
        except (UserError, ValueError):  # it failed, or its facts are gone: the numbers are shown anyway
            continue
    return [each for each in found if each is not None]


def draw_communities(gatherings: Sequence[CommunitySnapshot]) -> str:
    """Return the maps side by side as SVG for a page."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        return svg_text(_draw(gatherings))


def save_communities(gatherings: Sequence[CommunitySnapshot], file: Path) -> None:
    """Write the maps to a file, in the format of its suffix."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        save_drawing(_draw(gatherings), file)


def _draw(gatherings: Sequence[CommunitySnapshot]) -> Drawing:
    drawing, panels = canvas(1, len(gatherings), _SIZE)
    for axes, gathering in zip(panels[0], gatherings, strict=True):
        _draw_one(axes, gathering)
    return drawing


def _draw_one(axes: Axes, gathering: CommunitySnapshot) -> None:
    places, sizes = gathering.places, gathering.sizes
    axes.grid(visible=False)
    colour_of = {
        principal: _ALONE if size < ORPHAN else COLOURS[number % len(COLOURS)]
        for number, (principal, size) in enumerate(sorted(sizes.items()))
    }
    for node, principal in gathering.belongs.items():
        ends = np.stack([places[node], places[principal]])
        axes.plot(*ends.T, color=colour_of[principal], lw=0.7, alpha=0.6, zorder=1)
    for leads, marker, size in ((False, "o", 12), (True, "*", 90)):
        nodes = [node for node, principal in gathering.belongs.items() if (node == principal) is leads]
        colours = [colour_of[gathering.belongs[node]] for node in nodes]
        axes.scatter(places[nodes, 0], places[nodes, 1], s=size, color=colours, marker=marker, zorder=2)
    axes.set_aspect("equal")
    axes.set_title(gathering.describe(), color=_INK, fontsize=10)
    axes.tick_params(labelsize=8)
