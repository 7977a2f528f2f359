"""Figures of a campaign: panels of one size, a line for each series, intervals on every point.

With few seeds the seeds themselves are dots, and no interval is drawn.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from roamcast.campaign.campaign import Figure
from roamcast.campaign.plan import point_text
from roamcast.campaign.section import Setting
from roamcast.errors import UserError
from roamcast.metrics.declarations import METRICS
from roamcast.report.drawings.axes import (
    fit_values,
    is_numeric,
    name_key,
    name_values,
    place_values,
    plain_numbers,
    short_numbers,
)
from roamcast.report.drawings.layout import add_legend, fold_label, fold_y_label, thin_ticks
from roamcast.report.numbers import FEW, Row
from roamcast.report.result import CampaignResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

# Told apart by colour-blind eyes, and by marker and dash in black and white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
_STACK = ("#7da7c4", "#b9d6e8", "#f0cf8e", "#c9c9c9", "#9fd3c1", "#e3bfd3")
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a label with dollars is text, not a formula
    "svg.hashsalt": "roamcast",
    "pdf.fonttype": 42,  # TrueType, which journals ask for
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

PANEL = (4.4, 3.5)
"Size of a panel on a page [inches]."
COLUMN = (3.5, 2.8)
"Size of a panel in a column of a journal [inches]."
PANEL_FRAME = (0.165, 0.345, 0.805, 0.605)
"Position of the plot in each panel, so that plots of neighbouring panels have one size."


class FigurePanel(NamedTuple):
    """A panel of a figure as a drawing of its own."""

    name: str
    caption: str
    draw: Callable[[], Drawing]


class FigurePanels:
    """A figure of a campaign that can be drawn panel by panel."""

    def __init__(self, result: CampaignResult, name: str) -> None:
        self.result = result
        self.name = name
        self.figure: Figure = result.campaign.figures[name]
        self.sweep = result.campaign.sweeps[self.figure.sweep]
        self.points = self.sweep.expand()
        axis = self.figure.panel
        self.rows: list[Setting | None] = (
            [None] if axis is None else list(dict.fromkeys(point[axis] for point in self.points))
        )
        self.panels = [(row, stack) for row in self.rows for stack in self.figure.y]

    def draw(self) -> Drawing:
        """Return all panels side by side."""
        import matplotlib as mpl

        with mpl.rc_context(STYLE):
            drawing, parts = canvas(len(self.rows), len(self.figure.y), PANEL, frame=PANEL_FRAME)
            for i, row in enumerate(self.rows):
                for j, stack in enumerate(self.figure.y):
                    self._panel(parts[i][j], row, stack)
            return drawing

    def save(self, file: Path) -> None:
        """Write all panels side by side to a file, in the format of its suffix."""
        import matplotlib as mpl

        with mpl.rc_context(STYLE):
            save_drawing(self.draw(), file)

    def single_panels(self, size: tuple[float, float] = COLUMN) -> list[FigurePanel]:
        """Return each panel as a figure of its own, by default as wide as a column of a journal."""
        found = []
        for row, stack in self.panels:
            of_row = "" if row is None else "-" + re.sub(r"[^\w.-]+", "-", str(row))
            title = f"{self.name}-{stack[0]}{'-stacked' * (len(stack) > 1)}{of_row}"
            found.append(FigurePanel(title, self.figure.title, partial(self._single, row, stack, size)))
        return found

    def _single(self, row: Setting | None, stack: list[str], size: tuple[float, float]) -> Drawing:
        import matplotlib as mpl

        small = {"font.size": 8, "legend.fontsize": 7} if size == COLUMN else {}
        with mpl.rc_context(STYLE | small):
            drawing, parts = canvas(1, 1, size, frame=PANEL_FRAME)
            self._panel(parts[0][0], row, stack)
            return drawing

    def _panel(self, axes: Axes, row: Setting | None, stack: list[str]) -> None:
        figure = self.figure
        points = [point for point in self.points if row is None or point[figure.panel or ""] == row]
        metric = METRICS[stack[0]]
        values = [point[figure.x] for point in points]
        if len(stack) == 1:
            self._lines(axes, points, metric.name)
            title = name_values(metric, figure.titles.get(metric.name), figure.units.get(metric.name))
        else:
            self._bars(axes, points, stack)
            title = figure.titles.get(metric.name) or "Messages by category"
        if row is not None:
            axes.set_title(f"{name_key(figure.panel or '', [])} = {row}", loc="left")
        axes.set_ylabel(title)
        fold_y_label(axes)
        axes.set_xlabel(name_key(figure.x, values, figure.x_title, figure.x_unit))
        axes.tick_params(length=2.5)
        fold_label(axes)
        thin_ticks(axes)
        add_legend(axes, "" if figure.series == "protocol" else name_key(figure.series, []))

    def _find(self, point: dict[str, Setting], protocol: str, metric: str) -> Row | None:
        return self.result.values.get((self.figure.sweep, point_text(point), protocol, metric))

    def _seeds(self, point: dict[str, Setting], protocol: str, metric: str) -> dict[int, float]:
        return self.result.by_seed(self.figure.sweep, point_text(point), protocol, metric)

    def _lines(self, axes: Axes, points: list[dict[str, Setting]], metric: str) -> None:
        values = [point[self.figure.x] for point in points]
        places = place_values(values)
        series = self._series(points)
        log_x = self.figure.x_log and is_numeric(values) and min(places.values()) > 0
        # A little to the side of each other, or the intervals of one would hide the other's.
        aside = 0.0 if log_x else 0.012 * (max(places.values()) - min(places.values()))
        if len(places) == 1:
            # Side by side across the panel: there is no line to follow.
            aside = 1.0
            axes.set_xlim(min(places.values()) - len(series) / 2, min(places.values()) + len(series) / 2)
        reached: list[float] = []
        for i, (title, chosen) in enumerate(series):
            known = [
                (
                    places[str(point[self.figure.x])] + (i - (len(series) - 1) / 2) * aside,
                    point,
                    protocol,
                    row,
                )
                for point, protocol in chosen
                if (row := self._find(point, protocol, metric))
            ]
            known.sort(key=lambda one: one[0])
            colour = COLOURS[i % len(COLOURS)]
            for x, point, protocol, row in known:
                if row["count"] < FEW:
                    seeds = list(self._seeds(point, protocol, metric).values())
                    axes.scatter([x] * len(seeds), seeds, s=12, color=colour, alpha=0.45, linewidth=0)
                    reached += seeds
                if self.figure.extremes:
                    axes.vlines(x, row["least"], row["most"], color=colour, linewidth=0.7)
                    reached += [row["least"], row["most"]]
            ends = [_ends(row) for _, _, _, row in known]
            means = [row["mean"] for _, _, _, row in known]
            for mean, (low, high) in zip(means, ends, strict=True):
                reached += [mean - low, mean + high]
            axes.errorbar(
                [x for x, _, _, _ in known],
                means,
                yerr=list(zip(*ends, strict=True)) if known else None,
                label=title,
                color=colour,
                marker=MARKERS[i % len(MARKERS)],
                linestyle=DASHES[i % len(DASHES)],
                markersize=4,
                linewidth=1.4,
                capsize=2.5,
            )
        log = None if self.figure.log is None else metric in self.figure.log
        fit_values(axes.yaxis, METRICS[metric], reached, log)
        if log_x:
            axes.set_xscale("log")
            plain_numbers(axes.xaxis)
        if not is_numeric(values):
            axes.set_xticks(list(places.values()), list(places))
        elif len(places) <= 7:
            axes.set_xticks(list(places.values()), [f"{place:g}" for place in places.values()])
            axes.minorticks_off() if log_x else None

    def _bars(self, axes: Axes, points: list[dict[str, Setting]], stack: list[str]) -> None:
        values = list(dict.fromkeys(point[self.figure.x] for point in points))
        series = self._series(points)
        width = 0.8 / len(series)
        highest = 0.0
        for i, (title, chosen) in enumerate(series):
            colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
            for point, protocol in chosen:
                place = values.index(point[self.figure.x]) + (i - (len(series) - 1) / 2) * width
                bottom = 0.0
                for metric, shade in zip(stack, _STACK, strict=False):
                    row = self._find(point, protocol, metric)
                    height = row["mean"] if row else 0.0
                    axes.bar(place, height, width * 0.9, bottom=bottom, color=shade)
                    bottom += height
                # The marker of the series stands on its bar: the same as on its line in the other panels.
                axes.plot(place, bottom, marker, color=colour, markersize=4)
                highest = max(highest, bottom)
            axes.plot([], [], marker, color=colour, markersize=4, label=title)
        for metric, shade in zip(stack, _STACK, strict=False):
            axes.bar(0, 0, color=shade, label=METRICS[metric].title.removesuffix(" messages").lower())
        unit = " " if is_numeric(values) else ""
        axes.set_xticks(
            range(len(values)), [str(value).split(unit)[0] if unit else str(value) for value in values]
        )
        axes.set_ylim(0, highest * 1.08 or 1)
        short_numbers(axes.yaxis, highest)

    def _series(
        self, points: list[dict[str, Setting]]
    ) -> list[tuple[str, list[tuple[dict[str, Setting], str]]]]:
        """Return the title of each line, and its points with their protocols."""
        if self.figure.series == "protocol":
            titles = {
                label: self.result.campaign.protocols[label].title or label for label in self.sweep.protocols
            }
            return [(title, [(point, label) for point in points]) for label, title in titles.items()]
        key = self.figure.series
        return [
            (f"{label}, {value}" if len(self.sweep.protocols) > 1 else str(value), chosen)
            for label in self.sweep.protocols
            for value in dict.fromkeys(point[key] for point in points)
            if (chosen := [(point, label) for point in points if point[key] == value])
        ]


def _ends(row: Row) -> tuple[float, float]:
    """Return how far a row's interval extends below and above its mean; 0 with few seeds."""
    if row["count"] < FEW or row["half"] is None:
        return 0.0, 0.0
    return row["mean"] - row["lower"], row["upper"] - row["mean"]


def canvas(
    rows: int,
    columns: int,
    size: tuple[float, float] = PANEL,
    frame: tuple[float, float, float, float] | None = None,
) -> tuple[Drawing, Any]:
    """Return a drawing with `rows` x `columns` panels of `size` inches; plots fill them or their `frame`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(
        figsize=(size[0] * columns, size[1] * rows), layout=None if frame is not None else "constrained"
    )
    FigureCanvasAgg(drawing)
    parts = drawing.subfigures(rows, columns, squeeze=False)
    return drawing, [
        [part.subplots() if frame is None else part.add_axes(frame) for part in row] for row in parts
    ]


def draw_figure(result: CampaignResult, name: str) -> Drawing:
    """Return a figure of the campaign; raise UserError if it has none of this name."""
    if name not in result.campaign.figures:
        known = ", ".join(result.campaign.figures) or "none"
        raise UserError(f"the campaign has no figure {name!r}; it has {known}")
    return show_itself(FigurePanels(result, name).draw())


def show_itself(drawing: Drawing) -> Drawing:
    """Return `drawing`, which a notebook now shows as a picture, whatever backend it has chosen."""

    def picture() -> bytes:
        out = io.BytesIO()
        drawing.savefig(out, format="png", dpi=100)
        return out.getvalue()

    vars(drawing)["_repr_png_"] = picture
    return drawing


def save_drawing(drawing: Drawing, file: Path) -> None:
    """Write a drawing as a file; the same drawing gives the same bytes."""
    metadata: dict[str, Any] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(file.suffix, {})
    drawing.savefig(file, dpi=200, metadata=metadata)


def svg_text(drawing: Drawing) -> str:
    """Return a drawing as SVG for a page."""
    sink = io.StringIO()
    drawing.savefig(sink, format="svg", metadata={"Date": None})
    return embed_svg(sink.getvalue())


def embed_svg(text: str) -> str:
    """Return the text of an SVG file as an element of a page."""
    text = text[text.index("<svg") :]
    # The page decides how large it is; the view box keeps its shape.
    return re.sub(r' (width|height)="[^"]*pt"', "", text, count=2)
