"""The result of a campaign on a terminal: claims with verdicts, protocols side by side, runs."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from roamcast.campaign.plan import point_text
from roamcast.campaign.tables import HELD, NOT_HELD, NOT_JUDGED, UNDECIDED
from roamcast.report.answer import answer
from roamcast.report.comparing.goals import SHOWN
from roamcast.report.numbers import FEW
from roamcast.report.page.verdicts import sum_up
from roamcast.report.ranking import SIDE_BY_SIDE, Place, rank
from roamcast.report.readings import judge_readings
from roamcast.report.result import CampaignResult, describe_point

_TITLES, _CELLS = 20, 15
"Columns that the metrics' names and each protocol's numbers take."

COLOURS = {HELD: "green", NOT_HELD: "red", UNDECIDED: "yellow", NOT_JUDGED: "dim"}

_LEGEND = (
    "Means over seeds with 95 % intervals in brackets. best: significantly better than each of the others "
    "(paired by seed; error 5 % over all comparisons). tie: the difference is not significant. The "
    "delay of common deliveries is over the pairs that all delivered; nobody is best at another delay."
)
_LEGEND_OF_FEW = f"With fewer than {FEW} seeds: the mean, and in parentheses the least and the most of them."


def show_claims(result: CampaignResult, console: Console) -> None:
    """Print every claim with the paper's figure and section, our value and the verdict."""
    console.print(f"[bold]{escape(result.campaign.title)}[/]", highlight=False)
    table = Table(box=None, show_header=False, padding=(0, 1, 1, 0))
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for judged in result.claims:
        claim = judged.claim
        place = ", ".join(part for part in (claim.section, claim.figure) if part)
        paper = f"paper: {escape(claim.paper or '-')}; " if result.campaign.paper or claim.paper else ""
        doubt = f" [dim]{judged.doubt_text}[/]" if judged.doubt_text else ""
        table.add_row(
            f"[{COLOURS[judged.verdict]}]{judged.verdict_text}[/]",
            f"{escape(claim.says)} [dim]{escape(place)}[/]\n"
            f"{paper}ours: [bold]{escape(judged.value_text)}[/]{doubt}\n"
            f"[dim]asked: {escape(judged.bounds_text)}[/]",
        )
    console.print(table, highlight=False)
    console.print(f"[bold]{escape(sum_up(result.claims))}[/]", highlight=False)


def show_readings(result: CampaignResult, console: Console) -> None:
    """Print every claim with the readings under which it holds, and the choices that decide it."""
    console.print(f"[bold]{result.campaign.title}[/]", highlight=False)
    table = Table(box=None, show_header=False, padding=(0, 1, 1, 0))
    for each in judge_readings(result):
        claim = each.claim
        place = ", ".join(part for part in (claim.section, claim.figure) if part)
        table.add_row(
            f"{escape(claim.says)} [dim]{escape(place)}[/]\n"
            f"[bold]{escape(each.answer)}[/]; decided by {escape(each.decided_by)}"
        )
    console.print(table, highlight=False)


def show_comparison(result: CampaignResult, console: Console) -> None:
    """Print the protocols of each point side by side, and the answer."""
    for sweep, asked in result.campaign.sweeps.items():
        for point in asked.expand():
            place = (sweep, point_text(point))
            if len(asked.expand()) > 1:
                console.print(f"[bold]{escape(describe_point(place[1]))}[/]", highlight=False)
            at_once = max(1, (console.width - _TITLES) // _CELLS)
            for first in range(0, len(asked.protocols), at_once):
                shown = slice(first, first + at_once)
                console.print(side_by_side(result, place, asked.protocols, shown), highlight=False)
                console.print()
            first_sentence, *rest = map(escape, answer(result, place, asked.protocols).sentences)
            console.print(" ".join([f"[bold]{first_sentence}[/]", *rest]), highlight=False)
    few = any(row["count"] < FEW for row in result.values.values())
    console.print(f"[dim]{_LEGEND_OF_FEW if few else _LEGEND}[/]", highlight=False)


def side_by_side(result: CampaignResult, place: Place, protocols: list[str], chosen: slice) -> Table:
    """Return a table of the `chosen` protocols, as many as fit beside each other."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("", max_width=_TITLES - 1)
    shown = protocols[chosen]
    for protocol in shown:
        table.add_column(protocol, overflow="fold", max_width=_CELLS - 1)
    marks = {"best": " [bold green]best[/]", "tie": " [green]tie[/]", "": ""}
    for metric in SIDE_BY_SIDE:
        ranked = rank(result, place, metric, protocols)
        if not ranked:
            continue
        unit = f" ({SHOWN[metric].unit})" if SHOWN[metric].unit else ""
        cells = []
        for protocol in shown:
            number, mark = ranked.get(protocol, ("-", ""))
            value, around = _split(number)
            cells.append(f"{escape(value)}{marks[mark]}" + (f"\n[dim]{escape(around)}[/]" if around else ""))
        table.add_row(f"{SHOWN[metric].title}{unit}", *cells)
    return table


def _split(number: str) -> tuple[str, str]:
    """Return a number and its interval separately, for two lines of a narrow column."""
    value, _, around = number.partition(" ")
    return value, around


def show_runs(rows: list[dict[str, Any]], console: Console) -> None:
    """Print one run per line, with its error below."""
    wide = max((len(row["router"]) for row in rows), default=8)
    console.print(f"{'run':20}  {'protocol':{wide}}  {'seed':>6}  {'status':8}  {'cpu (s)':>8}", style="bold")
    for row in rows:
        cpu = f"{row['cpu']:.1f}" if row["cpu"] is not None else "-"
        line = f"{row['run']:20}  {row['router']:{wide}}  {row['seed']:>6}  {row['status']:8}  {cpu:>8}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
        if row["error"]:
            kept = f" [{row['traceback']}]" if row.get("traceback") else ""
            console.print(f"  {row['error']}{kept}", highlight=False, markup=False, soft_wrap=True)
