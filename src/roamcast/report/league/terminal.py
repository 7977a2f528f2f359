"""The league on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from roamcast.report.league.report import LeagueReport
from roamcast.report.league.tables import TextTable, list_breaks, list_matrix, list_overall

_LEGEND = (
    "Delivery rate in %. * best or tied; ! breaks: less than half of the best; - cannot run here. "
    "Costs are relative to the median protocol of each world."
)


def show_league(report: LeagueReport, console: Console) -> None:
    """Print the headline, delivery by world, the ranking over all worlds and where protocols break."""
    console.print(f"[bold]{escape(report.headline())}[/]", highlight=False)
    console.print(_table(list_matrix(report)))
    console.print(_LEGEND, highlight=False)
    console.print(_table(list_overall(report)))
    console.print(_table(list_breaks(report)))
    console.print(report.basis, highlight=False)


def _table(of: TextTable) -> Table:
    table = Table()
    for title in of.heads:
        table.add_column(title, no_wrap=title == "protocol")
    for row in of.rows:
        table.add_row(*map(escape, row))
    return table
