"""Drawing of the subscription graph: one row per depth, with lines from covering to covered filters."""

from __future__ import annotations

import textwrap
import warnings
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from roamcast.content.errors import ContentError

if TYPE_CHECKING:
    import networkx

Item: TypeAlias = int | tuple[int, int, int]
"A node, or the gap through which the line between two nodes passes a row."

COLUMNS = 28
"Characters per line of a box; longer subscriptions are broken at `and`, `or` and `|`."
LINES = 6
ACROSS = 12
"Maximum number of boxes in a row; wider generations take several rows."
SUFFIXES = (".png", ".pdf", ".svg")
LOOK: dict[str, Any] = {
    "ha": "center",
    "va": "center",
    "fontsize": 7,
    "bbox": {"boxstyle": "round", "facecolor": "white", "edgecolor": "grey"},
}


def draw_graph(graph: networkx.DiGraph[int], path: Path) -> None:
    """Draw the graph with the nodes' `label`; raise `ContentError` if the file cannot be written."""
    import matplotlib
    from matplotlib.figure import Figure

    if path.suffix.lower() not in SUFFIXES:
        raise ContentError(f"{path}: unknown image format; the name must end in {', '.join(SUFFIXES)}")
    boxes: dict[Item, str] = {n: _box(graph.nodes[n]["label"], graph.nodes[n]["count"]) for n in graph}
    rows, lines = _rows(graph)
    tall = [max(boxes[item].count("\n") + 1 for item in row if item in boxes) for row in rows]
    width = min(max([sum(map(_room, row)) for row in rows], default=1.0) + 0.6, 120.0)
    height = min(0.6 + 0.14 * sum(tall) + 0.7 * len(rows), 120.0)
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    at: dict[Item, tuple[float, float]] = {}
    above: dict[Item, list[Item]] = {}
    for line in lines:
        for upper, lower in pairwise(line):
            above.setdefault(lower, []).append(upper)
    top = 0.3
    for row, max_lines in zip(rows, tall, strict=True):
        top += 0.14 * max_lines / 2 + 0.35
        # Place a box below the mean position of the boxes that cover it, so that few lines cross.
        middle = {
            item: _mean([at[upper][0] for upper in above.get(item, [])] or [width * number / len(row)])
            for number, item in enumerate(row)
        }
        scale, left = width / sum(map(_room, row)), 0.0
        for item in sorted(row, key=lambda item: (middle[item], str(item))):
            at[item] = (left + _room(item) * scale / 2, top)
            left += _room(item) * scale
            if item in boxes:
                axes.text(*at[item], boxes[item], parse_math=False, **LOOK)
        top += 0.14 * max_lines / 2 + 0.35
    for line in lines:
        axes.plot(*zip(*(at[item] for item in line), strict=True), color="grey", linewidth=1, zorder=0)
    try:
        with warnings.catch_warnings(), matplotlib.rc_context({"svg.hashsalt": "roamcast"}):
            warnings.filterwarnings("ignore", "Glyph .* missing")  # a placeholder box is drawn instead
            figure.savefig(path, dpi=120)
    except OSError as error:
        raise ContentError(f"{path}: cannot be written: {error.strerror}") from None


def _rows(graph: networkx.DiGraph[int]) -> tuple[list[list[Item]], list[list[Item]]]:
    """Return the items of each row and of each line; a line across several rows has a gap in each."""
    import networkx

    # Nodes that cover nothing come first, so that few lines pass other rows of their own generation.
    generations = [
        sorted(nodes, key=lambda node: (graph.out_degree(node) > 0, node))
        for nodes in networkx.topological_generations(graph)
    ]
    rows: list[list[Item]] = [list(part) for nodes in generations for part in _cut(nodes)]
    level = {node: number for number, row in enumerate(rows) for node in row}
    lines: list[list[Item]] = []
    for wide, narrow in graph.edges:
        gaps: list[Item] = [(wide, narrow, n) for n in range(level[wide] + 1, level[narrow])]
        for number, gap in enumerate(gaps, level[wide] + 1):
            rows[number].append(gap)
        lines.append([wide, *gaps, narrow])
    return rows, lines


def _cut(nodes: list[int]) -> list[list[int]]:
    return [nodes[start : start + ACROSS] for start in range(0, len(nodes), ACROSS)]


def _room(item: Item) -> float:
    return 2.2 if isinstance(item, int) else 0.3


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _box(label: str, count: int) -> str:
    """Return the label of a node, wrapped to a few short lines."""
    lines: list[str] = []
    for part in label.replace(" and ", "\nand ").replace(" or ", "\nor ").replace(" | ", "\n| ").split("\n"):
        lines.extend(textwrap.wrap(part, COLUMNS, subsequent_indent="  ") or [""])
    if len(lines) > LINES:
        lines[LINES - 1 :] = ["..."]
    if count > 1:
        lines.append(f"(x{count})")
    return "\n".join(lines)
