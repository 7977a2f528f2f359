"""Maps of scenarios: groups of nodes, zones, publishers and trails."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from roamcast.report.drawings.figures import COLOURS, STYLE, save_drawing, svg_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from roamcast.scenario.model import Scenario
    from roamcast.scenario.traces.movement import Legs

MINUTE = 60.0
"Duration of the trails [s]."

_INK, _PALE = "#22333b", "#c5ccd1"
_MOST_TRAILS = 400
"Maximum number of trails, which would otherwise cover each other."
_MOST_RINGS = 6
"Maximum number of publishers whose radio range is drawn."


@dataclass(frozen=True)
class MapData:
    """The content of a map: the positions of nodes at one moment, and their trails."""

    scenario: Scenario
    moment: float
    trails: dict[int, list[tuple[float, float]]]
    "Positions of each node, the oldest first; the last one is the present position."
    publishers: frozenset[int]


def make_map_data(
    scenario: Scenario, legs: Legs, publishers: Iterable[int], moment: float | None = None
) -> MapData:
    """Return the content of a map at `moment`; by default a minute after the warm-up."""
    now = min(scenario.warmup + MINUTE if moment is None else moment, scenario.duration)
    began = max(now - MINUTE, 0.0)
    trails = {}
    for node in range(scenario.count):
        own = legs.of(node)
        turns = own.time[(own.time > began) & (own.time < now)].tolist()
        trails[node] = [own.position(node, time) for time in (began, *turns, now)]
    return MapData(scenario, now, trails, frozenset(publishers))


def draw_map(ground: MapData) -> str:
    """Return the map as SVG for a page."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        return svg_text(_draw(ground))


def save_map(ground: MapData, file: Path) -> None:
    """Write the map to a file, in the format of its suffix."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        save_drawing(_draw(ground), file)


def describe_map(ground: MapData) -> str:
    """Return a sentence that describes the map, as its alternative text."""
    scenario = ground.scenario
    groups = ", ".join(f"{group.count} {name}" for name, group in scenario.groups.items())
    zones = f", {len(scenario.content.grid)} numbered zones" if scenario.content.grid else ""
    rings = " Dashed: how far a publisher's radio reaches." if _ringed(ground) else ""
    if scenario.radio.obstacles:
        zones += f", {len(scenario.radio.obstacles)} buildings"
    return (
        f"{scenario.area.width:g} m x {scenario.area.height:g} m: {groups}{zones}, {ground.moment:g} s into "
        f"the run; lines are the last minute.{rings}"
    )


_LEGEND = 84
"Letters of a line of the legend; an entry needs seven besides its label."


def _ringed(ground: MapData) -> bool:
    return 0 < len(ground.publishers) <= _MOST_RINGS


def _draw(ground: MapData) -> Drawing:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing

    area = ground.scenario.area
    shape = min(max(area.height / area.width, 0.3), 1.2)
    drawing = Drawing(figsize=(7.2, 7.2 * shape + 0.75), layout="constrained")
    FigureCanvasAgg(drawing)
    axes = drawing.subplots()
    margin = 0.02 * max(area.width, area.height)
    axes.set(xlim=(-margin, area.width + margin), ylim=(-margin, area.height + margin), aspect="equal")
    axes.grid(visible=False)
    axes.tick_params(colors="#666677")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda place, _: f"{place:g} m" if place else "0")
    for name, spine in axes.spines.items():
        spine.set_visible(name in ("left", "bottom"))
        spine.set_color(_PALE)
    _draw_zones(axes, ground)
    _draw_buildings(axes, ground)
    _draw_people(axes, ground)
    handles, labels = axes.get_legend_handles_labels()
    columns = max(1, min(len(labels), 4, _LEGEND // (max(map(len, labels), default=0) + 7)))
    drawing.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=10)
    return drawing


def _draw_zones(axes: Axes, ground: MapData) -> None:
    from matplotlib.patches import Rectangle

    area, grid = ground.scenario.area, ground.scenario.content.grid
    axes.add_patch(Rectangle((0, 0), area.width, area.height, facecolor="#f7f9fa", edgecolor=_PALE, zorder=0))
    if grid is None or len(grid) > 400:
        return
    for column in range(1, grid.columns):
        axes.plot([column * grid.side] * 2, [0, area.height], color=_PALE, lw=0.8, zorder=1)
    for row in range(1, grid.rows):
        axes.plot([0, area.width], [row * grid.side] * 2, color=_PALE, lw=0.8, zorder=1)
    size = 16 if len(grid) <= 20 else 9
    for zone in range(1, len(grid) + 1):
        row, column = divmod(zone - 1, grid.columns)
        x = (column * grid.side + min((column + 1) * grid.side, area.width)) / 2
        y = (row * grid.side + min((row + 1) * grid.side, area.height)) / 2
        axes.text(x, y, str(zone), ha="center", va="center", fontsize=size, color="#cfd8de", zorder=1)


def _draw_buildings(axes: Axes, ground: MapData) -> None:
    for building in ground.scenario.radio.obstacles:
        axes.fill(
            *zip(*building.polygon, strict=True), facecolor="#dde3e8", edgecolor="#9aa7b0", lw=0.8, zorder=1
        )
        for hole in building.holes:
            axes.fill(*zip(*hole, strict=True), facecolor="#f7f9fa", edgecolor="#9aa7b0", lw=0.8, zorder=1)


def _draw_people(axes: Axes, ground: MapData) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Circle

    scenario = ground.scenario
    size = 26 if scenario.count <= 200 else 10 if scenario.count <= 2000 else 2
    lead = 0 if len(scenario.groups) > 1 else 1
    for i, (name, nodes) in enumerate(scenario.members()):
        colour = COLOURS[(i + lead) % len(COLOURS)]
        speakers = [node for node in nodes if node in ground.publishers]
        silent = [node for node in nodes if node not in ground.publishers]
        if len(nodes) <= _MOST_TRAILS:
            lines = [ground.trails[node] for node in nodes]
            axes.add_collection(LineCollection(lines, colors=colour, linewidths=1.6, alpha=0.3, zorder=2))
        for group, marker, scale, word in ((silent, "o", 1, ""), (speakers, "*", 7, ", publishing")):
            if group:
                axes.scatter(
                    [ground.trails[node][-1][0] for node in group],
                    [ground.trails[node][-1][1] for node in group],
                    s=size * scale,
                    color=colour,
                    marker=marker,
                    edgecolor="white",
                    linewidth=0.7,
                    zorder=3 + scale,
                    clip_on=False,
                    label=f"{name}{word} ({len(group)})",
                )
        for node in speakers if _ringed(ground) else []:
            ring = Circle(
                ground.trails[node][-1],
                scenario.radio.range,
                facecolor="none",
                edgecolor=colour,
                lw=1,
                ls=(0, (4, 3)),
                alpha=0.6,
                zorder=2,
            )
            ring.set_clip_path(axes.patches[0])
            axes.add_patch(ring)
