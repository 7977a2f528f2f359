"""Protocols side by side, as a part of the page: the answer, its picture, the numbers."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.plan import point_text
from roamcast.report.answer import answer
from roamcast.report.bars import draw_bars
from roamcast.report.ranking import HEADLINES, SIDE_BY_SIDE, Place, rank
from roamcast.report.result import Result, tell, with_interval


def make_comparisons(result: Result) -> str:
    """A section for each point of each sweep."""
    return "".join(
        _section(result, (name, point_text(point)), sweep.protocols)
        for name, sweep in result.campaign.sweeps.items()
        for point in sweep.expand()
    )


def _section(result: Result, place: Place, protocols: list[str]) -> str:
    found = answer(result, place, protocols)
    first, *rest = found.sentences if found else ["Nobody can be compared: see the numbers."]
    more = f"<p>{escape(' '.join(rest))}</p>" if rest else ""
    bars = "".join(
        f'<div class="panel">{draw_bars(result, place, metric, protocols)}</div>'
        for metric in HEADLINES
        if rank(result, place, metric, protocols)
    )
    where = tell(place[1], result.campaign.sweeps[place[0]].set)
    return (
        f"<section><h2>Which is best? <span class='where'>{escape(where)}</span></h2>"
        f"<p class='verdict'>{escape(first)}</p>{more}"
        f'<div class="panels">{bars}</div>{_side_by_side(result, place, protocols)}</section>'
    )


def _side_by_side(result: Result, place: Place, protocols: list[str]) -> str:
    return (
        f"{_table(result, place, protocols, SIDE_BY_SIDE)}<p class='small'>Means over seeds with 95 % "
        "Student-t intervals. Best: the best mean. Tie: the difference to the best, seed by seed, is within "
        "its interval. Who serves best is decided by delivery; where that is the same to a point, by "
        "messages per delivery.</p>"
        f"<details><summary>All metrics</summary>{_table(result, place, protocols, METRICS)}</details>"
    )


def _table(result: Result, place: Place, protocols: list[str], metrics: Iterable[str]) -> str:
    head = "".join(f"<th>{escape(label)}</th>" for label in protocols)
    rows = []
    for metric in (METRICS[name] for name in metrics):
        ranked = rank(result, place, metric.name, protocols) if metric.name in SIDE_BY_SIDE else {}
        cells = []
        for label in protocols:
            row = result.values.get((*place, label, metric.name))
            mark = ranked.get(label, ("", ""))[1]
            tag = f" <strong class='{mark}'>{mark}</strong>" if mark else ""
            told = with_interval(row["mean"], row["half"]) if row else "-"
            cells.append(f"<td data-label='{escape(label)}'>{escape(told)}{tag}</td>")
        unit = f" ({metric.unit})" if metric.unit else ""
        rows.append(
            f"<tr><th scope='row' title='{escape(metric.meaning)}'>{escape(metric.title + unit)}</th>"
            f"{''.join(cells)}</tr>"
        )
    return (
        f"<div class='wide'><table class='sides'><thead><tr><th>Metric</th>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
