"""The page of the league: one HTML file in the style of the reports."""

from __future__ import annotations

from html import escape

from roamcast.report.league.drawings import league_figures
from roamcast.report.league.report import LeagueReport
from roamcast.report.league.standings import BREAKS
from roamcast.report.league.tables import (
    TextTable,
    list_breaks,
    list_conditions,
    list_overall,
    list_world,
)
from roamcast.report.page.appendix import make_appendix
from roamcast.report.page.downloads import make_downloads, show_figure
from roamcast.report.page.page import make_document

OVERALL = (
    "Delivery is the mean over worlds. Delay, airtime and energy are per delivery and relative to the median "
    "protocol of each world, median over worlds: 0.5x is half of what the median protocol needs in the "
    "typical world. On the front: no other protocol delivers as much without a higher delay, airtime or "
    "energy. The delay is that of what a protocol itself delivered. Energy is what radios consume more than "
    "idle ones, by Feeney's model."
)
BROKEN = (
    f"A protocol breaks in a world if it delivers less than {100 * BREAKS:.0f} % of what the best protocol "
    "delivers there. For a protocol that breaks nowhere, its worst world is listed. Causes are those of "
    "`roamcast why` in the first seed, with their share of all losses."
)


def make_league_page(report: LeagueReport) -> str:
    """Return the whole page."""
    matrix, *fronts = (show_figure(figure) for figure in league_figures(report))
    worlds = "".join(
        f"<section><h2 id='{escape(each.world)}'>{escape(each.world)}</h2>"
        f"<p class='verdict'>{escape(report.describe_world(each))}</p>"
        f"<p class='small'>{escape(report.conditions[each.world].describe())}.</p>"
        f"{_table(list_world(each))}</section>"
        for each in report.rankings
    )
    parts = [
        f"<header><h1>{escape(report.result.campaign.title)}</h1><p>{escape(report.basis)}</p></header>",
        f"<p class='verdict'>{escape(report.headline())}</p>",
        f"<section>{matrix}</section>",
        f"<section><h2>Over all worlds</h2><p>{escape(OVERALL)}</p>{_table(list_overall(report))}"
        f"<div class='panels'>{''.join(fronts)}</div></section>",
        f"<section><h2>Worlds</h2>{_table(list_conditions(report))}</section>",
        f"<section><h2>Where protocols break</h2><p>{escape(BROKEN.replace('`', ''))}</p>"
        f"{_table(list_breaks(report))}{_unserved(report)}</section>",
        worlds,
        make_downloads(report.result),
        make_appendix(report.result),
    ]
    return make_document(report.result.campaign.title, parts)


def _table(table: TextTable) -> str:
    """Return a table; on a phone each row is a block with the heads as labels."""
    head = "".join(f"<th>{escape(each)}</th>" for each in table.heads)
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td data-label='{escape(title or 'mark')}'>{escape(cell)}</td>"
            for title, cell in zip(table.heads, row, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    shown = f"<table class='sides'><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<div class='wide'>{shown}</div>"


def _unserved(report: LeagueReport) -> str:
    rows = "".join(
        f"<li>{escape(protocol)} does not run in {escape(world)}: it {escape(reason)}.</li>"
        for (world, protocol), reason in report.unserved.items()
    )
    return f"<ul>{rows}</ul>" if rows else ""
