"""Figures of a campaign: a panel for each metric, a line for each series, intervals on every point."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.campaign import Figure
from roamcast.pipeline.claims import number
from roamcast.pipeline.entry import Setting
from roamcast.pipeline.plan import point_text
from roamcast.report.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

# Told apart by colour-blind eyes, and by marker and dash in black and white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("-", "--", "-.", ":")
_STACK = ("#0072b2", "#56b4e9", "#e69f00", "#b3b3b3", "#009e73", "#cc79a7")
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "roamcast",
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#e0e0e0",
    "legend.frameon": False,
    "legend.fontsize": 8,
}


class Panels:
    """One figure of a campaign, ready to be drawn panel by panel."""

    def __init__(self, result: Result, name: str) -> None:
        self.result = result
        self.figure: Figure = result.campaign.figures[name]
        self.sweep = result.campaign.sweeps[self.figure.sweep]
        self.points = self.sweep.expand()
        axis = self.figure.panel
        self.rows: list[Setting | None] = (
            [None] if axis is None else _distinct(point[axis] for point in self.points)
        )
        self.panels = [(row, stack) for row in self.rows for stack in self.figure.y]

    def svg(self, row: Setting | None, stack: list[str]) -> str:
        """One panel as SVG text for a page."""
        import matplotlib as mpl

        with mpl.rc_context(STYLE):
            drawing, axes = canvas(1, 1, (4.4, 3.3 if len(stack) == 1 else 4.0))
            self._panel(axes[0][0], row, stack)
            return svg_text(drawing)

    def save(self, file: Path) -> None:
        """All panels side by side, in the format that the file's name asks for."""
        import matplotlib as mpl

        with mpl.rc_context(STYLE):
            drawing, axes = canvas(len(self.rows), len(self.figure.y))
            for i, row in enumerate(self.rows):
                for j, stack in enumerate(self.figure.y):
                    self._panel(axes[i][j], row, stack)
            metadata = (
                {"CreationDate": None}
                if file.suffix == ".pdf"
                else {"Date": None}
                if file.suffix == ".svg"
                else {}
            )
            drawing.savefig(file, dpi=200, metadata=metadata)

    def _panel(self, axes: Axes, row: Setting | None, stack: list[str]) -> None:
        points = [point for point in self.points if row is None or point[self.figure.panel or ""] == row]
        if len(stack) == 1:
            self._lines(axes, points, stack[0])
        else:
            self._bars(axes, points, stack)
        metric = METRICS[stack[0]]
        title = metric.title if len(stack) == 1 else "Messages by category"
        axes.set_title(title if row is None else f"{title}, {self.figure.panel} = {row}", fontsize=10)
        axes.set_ylabel(
            f"{title.split(',', maxsplit=1)[0].lower()}" + (f" ({metric.unit})" if metric.unit else "")
        )
        if len(stack) == 1:
            axes.set_xlabel(self.figure.x_title or self.figure.x)
        axes.set_ylim(bottom=0, top=self._top(points, stack))
        if stack[0].startswith(("delivery_rate", "answer_rate")):
            axes.set_ylim(0, 1.05)

    def _top(self, points: list[dict[str, Setting]], stack: list[str]) -> float | None:
        """Where the vertical axis ends: above all means, and above their intervals unless these are huge."""
        tops, reaches = [0.0], [0.0]
        for point in points:
            for label in self.sweep.protocols:
                place = (self.figure.sweep, point_text(point), label)
                rows = [row for metric in stack if (row := self.result.values.get((*place, metric)))]
                tops.append(sum(row["mean"] for row in rows))
                reaches.append(tops[-1] + (rows[0]["half"] or 0.0 if len(stack) == 1 and rows else 0.0))
                if self.figure.extremes and len(stack) == 1 and rows:
                    reaches.append(rows[0]["most"])
        return min(max(reaches), 2 * max(tops)) * 1.05 or None

    def _lines(self, axes: Axes, points: list[dict[str, Setting]], metric: str) -> None:
        places = _places([point[self.figure.x] for point in points])
        series = self._series(points)
        # A little to the side of each other, or the intervals of one would hide the other's.
        aside = 0.012 * (max(places.values()) - min(places.values()))
        for i, (title, chosen) in enumerate(series):
            known = [
                (places[str(point[self.figure.x])], row)
                for point, protocol in chosen
                if (row := self.result.values.get((self.figure.sweep, point_text(point), protocol, metric)))
            ]
            known.sort(key=lambda one: one[0])
            if self.figure.extremes:
                axes.vlines(
                    [x + (i - (len(series) - 1) / 2) * aside for x, _ in known],
                    [row["least"] for _, row in known],
                    [row["most"] for _, row in known],
                    color=COLOURS[i % len(COLOURS)],
                    linewidth=0.7,
                )
            axes.errorbar(
                [x + (i - (len(series) - 1) / 2) * aside for x, _ in known],
                [row["mean"] for _, row in known],
                yerr=[row["half"] or 0.0 for _, row in known],
                label=title,
                color=COLOURS[i % len(COLOURS)],
                marker=_MARKERS[i % len(_MARKERS)],
                linestyle=_DASHES[i % len(_DASHES)],
                markersize=4,
                linewidth=1.4,
                capsize=2.5,
            )
        if not _numeric([point[self.figure.x] for point in points]):
            axes.set_xticks(list(places.values()), list(places))
        _legend(axes)

    def _bars(self, axes: Axes, points: list[dict[str, Setting]], stack: list[str]) -> None:
        values = _distinct(point[self.figure.x] for point in points)
        series = self._series(points)
        width = 0.8 / len(series)
        ticks: list[tuple[float, str]] = []
        for i, (title, chosen) in enumerate(series):
            for point, protocol in chosen:
                place = values.index(point[self.figure.x]) + (i - (len(series) - 1) / 2) * width
                bottom = 0.0
                for metric, colour in zip(stack, _STACK, strict=False):
                    row = self.result.values.get((self.figure.sweep, point_text(point), protocol, metric))
                    height = row["mean"] if row else 0.0
                    axes.bar(place, height, width * 0.9, bottom=bottom, color=colour)
                    bottom += height
                ticks.append((place, title))
        axes.set_xticks([place for place, _ in ticks], [title for _, title in ticks], rotation=90, fontsize=8)
        axes.tick_params(axis="x", length=0)
        above = axes.secondary_xaxis("top")
        above.set_xticks(range(len(values)), [str(value) for value in values])
        above.tick_params(axis="x", length=0)
        above.spines["top"].set_visible(False)
        above.set_xlabel(self.figure.x_title or self.figure.x)
        for metric, colour in zip(stack, _STACK, strict=False):
            axes.bar(0, 0, color=colour, label=METRICS[metric].title.removesuffix(" messages").lower())
        axes.grid(visible=False, axis="x")
        _legend(axes)

    def _series(
        self, points: list[dict[str, Setting]]
    ) -> list[tuple[str, list[tuple[dict[str, Setting], str]]]]:
        """Title of each line, and its points with their protocols."""
        if self.figure.series == "protocol":
            titles = {
                label: self.result.campaign.protocols[label].title or label for label in self.sweep.protocols
            }
            return [(title, [(point, label) for point in points]) for label, title in titles.items()]
        key = self.figure.series
        return [
            (f"{label}, {key} = {value}" if len(self.sweep.protocols) > 1 else f"{key} = {value}", chosen)
            for label in self.sweep.protocols
            for value in _distinct(point[key] for point in points)
            if (chosen := [(point, label) for point in points if point[key] == value])
        ]


def _legend(axes: Axes) -> None:
    """Below the panel, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    columns = min(len(handles), 2 if len(handles) == 4 else 3)
    axes.figure.legend(handles, labels, loc="outside lower center", ncols=columns, columnspacing=1)


def canvas(rows: int, columns: int, size: tuple[float, float] = (4.4, 3.3)) -> tuple[Drawing, Any]:
    """A drawing with `rows` x `columns` panels, each of `size` inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    FigureCanvasAgg(drawing)
    parts = drawing.subfigures(rows, columns, squeeze=False)
    return drawing, [[part.subplots() for part in row] for row in parts]


def svg_text(drawing: Drawing) -> str:
    """A drawing as SVG for a page."""
    sink = io.StringIO()
    drawing.savefig(sink, format="svg", metadata={"Date": None})
    text = sink.getvalue()
    text = text[text.index("<svg") :]
    # The page decides how large it is; the view box keeps its shape.
    return re.sub(r' (width|height)="[^"]*pt"', "", text, count=2)


def _distinct(values: Any) -> list[Any]:
    return list(dict.fromkeys(values))


def _numeric(values: list[Setting]) -> bool:
    try:
        [number(value) for value in values]
    except (TypeError, ValueError):
        return False
    return not any(isinstance(value, bool) for value in values)


def _places(values: list[Setting]) -> dict[str, float]:
    """Where each value stands on the axis: at its number, or in the order given."""
    if _numeric(values):
        return {str(value): number(value) for value in values}
    return {str(value): float(i) for i, value in enumerate(_distinct(values))}
