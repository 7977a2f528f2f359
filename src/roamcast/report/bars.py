"""A comparison as bars: one for each protocol, with its number and interval, the best in strong colour."""

from __future__ import annotations

from roamcast.metrics.declarations import METRICS
from roamcast.report.figures import COLOURS, STYLE, canvas, svg_text
from roamcast.report.ranking import Place, rank
from roamcast.report.result import Result

_SHADES = {"best": COLOURS[0], "tie": "#7fb2d5", "": "#cfd8de"}


def draw_bars(result: Result, place: Place, metric: str, protocols: list[str]) -> str:
    """The protocols' means of `metric` side by side, as SVG."""
    import matplotlib as mpl

    ranked = rank(result, place, metric, protocols)
    known = [protocol for protocol in protocols if protocol in ranked]
    rows = [result.values[(*place, protocol, metric)] for protocol in known]
    with mpl.rc_context(STYLE | {"axes.grid.axis": "x"}):
        drawing, panels = canvas(1, 1, (4.4, 0.9 + 0.32 * len(known)))
        axes = panels[0][0]
        axes.barh(
            range(len(known)),
            [row["mean"] for row in rows],
            xerr=[row["half"] or 0.0 for row in rows],
            color=[_SHADES[ranked[protocol][1]] for protocol in known],
            error_kw={"elinewidth": 1, "capsize": 2.5, "ecolor": "#444444"},
        )
        axes.set_yticks(range(len(known)), known)
        for i, protocol in enumerate(known):
            words, mark = ranked[protocol]
            text = f"{words}  {mark}" if mark else words
            # Beside the plot, where neither bars nor intervals cover it.
            axes.text(1.02, i, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8)
        axes.invert_yaxis()
        unit = METRICS[metric].unit
        axes.set_title(METRICS[metric].title + (f" ({unit})" if unit else ""), fontsize=10)
        top = max((row["mean"] for row in rows), default=0.0)
        reach = max((row["mean"] + (row["half"] or 0.0) for row in rows), default=0.0)
        axes.set_xlim(0, min(reach, 2 * top) * 1.05 or 1)
        if metric.startswith("delivery_rate"):
            axes.set_xlim(0, 1)
        return svg_text(drawing)
