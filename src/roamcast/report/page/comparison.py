"""The sections of a report that compare protocols: answer, figures, tables."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from roamcast.campaign.plan import point_text
from roamcast.report.answer import answer
from roamcast.report.comparing.goals import GOALS, SHOWN
from roamcast.report.drawings.catalogue import ReportFigure, compare_figures
from roamcast.report.numbers import FEW, format_estimate, percent
from roamcast.report.page.downloads import show_figure
from roamcast.report.ranking import HEADLINES, SIDE_BY_SIDE, Place, rank
from roamcast.report.result import CampaignResult, describe_point


def _places(result: CampaignResult) -> list[tuple[Place, list[str]]]:
    return [
        ((name, point_text(point)), sweep.protocols)
        for name, sweep in result.campaign.sweeps.items()
        for point in sweep.expand()
    ]


def make_answer(result: CampaignResult) -> str:
    """Return the answer of a comparison with one point, for the top of the page; otherwise an empty text."""
    places = _places(result)
    return _answer(result, *places[0]) if len(places) == 1 and result.values else ""


def make_comparisons(result: CampaignResult) -> str:
    """Return a section for each point of each sweep."""
    places = _places(result)
    return "".join(_section(result, place, protocols, len(places) > 1) for place, protocols in places)


def make_tables(result: CampaignResult) -> str:
    """Return the answer and the numbers of each point without drawings, for notebooks."""
    parts = []
    for place, protocols in _places(result):
        where = f"<p>{escape(describe_point(place[1], result.campaign.sweeps[place[0]].set))}</p>"
        table = _table(result, place, protocols, SIDE_BY_SIDE)
        parts.append(f"{where}{_answer(result, place, protocols)}{table}")
    return "".join(parts)


def _answer(result: CampaignResult, place: Place, protocols: list[str]) -> str:
    first, *rest = answer(result, place, protocols).sentences
    head, colon, more = first.partition(": ")
    strong = f"<strong>{escape(head)}</strong>{colon}{escape(more)}"
    return f"<p class='verdict'>{strong}</p>" + "".join(f"<p>{escape(text)}</p>" for text in rest)


def _section(result: CampaignResult, place: Place, protocols: list[str], several: bool) -> str:
    figures = compare_figures(result, place, protocols)
    strips = [figure for figure in figures if figure.name.startswith(HEADLINES)]
    curves = [figure for figure in figures if figure not in strips]
    if several:
        where = escape(describe_point(place[1], result.campaign.sweeps[place[0]].set))
        head = f"<h2>{where}</h2>{_answer(result, place, protocols)}"
    else:
        head = "<h2>Side by side</h2>"
    seeds = len(result.campaign.seed_list)
    dots = "Dots are seeds" + (", diamonds their means" if seeds > 1 else "")
    within = " with 95 % intervals" if seeds >= FEW else ""
    rest = f"<h2>Trade-off, delay and time</h2>{_panels(curves)}" if curves else ""
    return (
        f'<section>{head}{_panels(strips)}<p class="small">{dots}{within}.</p>'
        f"{_side_by_side(result, place, protocols)}{rest}</section>"
    )


def _panels(figures: list[ReportFigure]) -> str:
    return f'<div class="panels">{"".join(map(show_figure, figures))}</div>'


def make_points(result: CampaignResult) -> str:
    """Return the table of the best protocol at each point, for pages of figures."""
    rows = []
    for place, protocols in _places(result):
        if len(protocols) < 2 or not any(key[:2] == place for key in result.values):
            continue
        found = answer(result, place, protocols)
        if found.best is not None:
            verdict = f"<strong>{escape(found.best)}</strong>"
        elif found.ties:
            verdict = f"tie: {escape(', '.join(found.ties))}"
        else:
            verdict = "-"
        rates = (result.values.get((*place, label, "delivery_rate")) for label in protocols)
        text = "; ".join(
            f"{label} {percent(row)}" for label, row in zip(protocols, rates, strict=True) if row
        )
        where = describe_point(place[1], result.campaign.sweeps[place[0]].set)
        rows.append(f"<tr><td>{escape(where)}</td><td>{verdict}</td><td>{escape(text)}</td></tr>")
    if not rows:
        return ""
    return (
        "<section><h2>Best at each point</h2><p class='small'>By "
        f"{escape(GOALS[result.campaign.goal].noun)}, as <code>roamcast compare</code> decides it.</p>"
        "<div class='wide'><table><thead><tr><th>Point</th><th>Best</th>"
        "<th>Delivery rate</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _side_by_side(result: CampaignResult, place: Place, protocols: list[str]) -> str:
    return (
        f"{_table(result, place, protocols, SIDE_BY_SIDE)}"
        f"<details><summary>All metrics</summary>{_table(result, place, protocols, SHOWN)}</details>"
    )


def _table(result: CampaignResult, place: Place, protocols: list[str], metrics: Iterable[str]) -> str:
    head = "".join(f"<th>{escape(label)}</th>" for label in protocols)
    rows = []
    for metric in (SHOWN[name] for name in metrics):
        if not any((*place, label, metric.name) in result.values for label in protocols):
            continue
        ranked = rank(result, place, metric.name, protocols) if metric.name in SIDE_BY_SIDE else {}
        cells = []
        for label in protocols:
            row = result.values.get((*place, label, metric.name))
            mark = ranked.get(label, ("", ""))[1]
            tag = f" <strong class='{mark}'>{mark}</strong>" if mark else ""
            text = format_estimate(row) if row else "-"
            cells.append(f"<td data-label='{escape(label)}'>{escape(text)}{tag}</td>")
        unit = f" ({metric.unit})" if metric.unit else ""
        rows.append(
            f"<tr><th scope='row'>{escape(metric.title + unit)}"
            f"<span class='where'>{escape(metric.meaning)}</span></th>{''.join(cells)}</tr>"
        )
    return (
        f"<div class='wide'><table class='sides'><thead><tr><th>Metric</th>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
