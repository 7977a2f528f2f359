"""All figures of a report by name, each drawn on demand: for the page, for downloads and for files."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from roamcast.campaign.plan import point_text
from roamcast.files import safe_name
from roamcast.report.comparing.goals import SHOWN
from roamcast.report.drawings.curves import (
    draw_connectivity,
    draw_delivery,
    draw_load,
    draw_trade_off,
    draw_within,
)
from roamcast.report.drawings.figures import STYLE, FigurePanels
from roamcast.report.drawings.strips import draw_strip_panel
from roamcast.report.ranking import HEADLINES, Place, rank
from roamcast.report.result import CampaignResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_METADATA: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


@dataclass(frozen=True)
class ReportFigure:
    """A figure of a report with its caption."""

    name: str
    caption: str
    draw: Callable[[], Drawing]

    def render(self, kind: str) -> bytes:
        """Return the content of a file of format `kind`; the same result gives the same bytes."""
        import matplotlib as mpl

        with mpl.rc_context(STYLE):
            sink = io.BytesIO()
            self.draw().savefig(sink, format=kind, dpi=200, metadata=_METADATA[kind])
            return sink.getvalue()


def list_figures(result: CampaignResult) -> dict[str, ReportFigure]:
    """Return the figures of the campaign, or those of a comparison at each of its points, by name."""
    if result.campaign.figures:
        found = [
            ReportFigure(panel.name, panel.caption, panel.draw)
            for name in result.campaign.figures
            for panel in FigurePanels(result, name).single_panels()
        ]
    else:
        found = [
            figure
            for sweep, asked in result.campaign.sweeps.items()
            for point in asked.expand()
            for figure in compare_figures(result, (sweep, point_text(point)), asked.protocols)
        ]
    return {figure.name: figure for figure in found}


def compare_figures(result: CampaignResult, place: Place, protocols: list[str]) -> list[ReportFigure]:
    """Return the figures of a comparison at one point: strips, the trade-off, and curves if there are any."""
    several = sum(len(sweep.expand()) for sweep in result.campaign.sweeps.values()) > 1
    after = f"-{safe_name('-'.join(place))}" if several else ""
    found = []

    def add(name: str, caption: str, draw: Callable[..., Drawing], *given: Any) -> None:
        found.append(ReportFigure(f"{name}{after}", caption, lambda: draw(*given)))

    for metric in HEADLINES:
        if rank(result, place, metric, protocols):
            add(
                metric,
                f"{SHOWN[metric].meaning.capitalize()}.",
                draw_strip_panel,
                result,
                place,
                metric,
                protocols,
            )
    if any(result.by_seed(*place, p, "airtime") for p in protocols):
        add(
            "trade-off",
            "Delivery rate against airtime: small marks are seeds, large ones means.",
            draw_trade_off,
            result,
            place,
            protocols,
        )
    curves = result.curves.at(place) if result.curves is not None else None
    if curves is None:
        return found
    if any(run.within for run in curves.runs):
        text = "Share of expected deliveries made within a delay, mean over seeds; losses keep it below 1."
        add("delivered-within", text, draw_within, result, curves, protocols)
        add(
            "delivery",
            "Delivery rate by time of publication, mean over seeds.",
            draw_delivery,
            curves,
            protocols,
        )
    add(
        "load",
        "Load: airtime of data and RTS frames of all nodes, mean over seeds.",
        draw_load,
        curves,
        protocols,
    )
    if any(run.connectivity for run in curves.runs):
        text = "Connectivity: share of the expected deliveries for which a path exists at publication."
        add("connectivity", text, draw_connectivity, curves)
    return found
