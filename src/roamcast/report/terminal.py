"""A campaign's result on a terminal: claims with verdicts, protocols side by side, runs."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.plan import point_text
from roamcast.report.answer import answer
from roamcast.report.ranking import SIDE_BY_SIDE, rank
from roamcast.report.readings import reread
from roamcast.report.result import Result, tell
from roamcast.report.verdicts import sum_up


def show_claims(result: Result, console: Console) -> None:
    """Every claim with the paper's figure and section, our number, and whether it held."""
    colours = {"held": "green", "not held": "red", "not judged": "yellow"}
    console.print(f"[bold]{result.campaign.title}[/]", highlight=False)
    table = Table(box=None, show_header=False, padding=(0, 1, 1, 0))
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for judged in result.claims:
        claim = judged.claim
        place = ", ".join(part for part in (claim.section, claim.figure) if part)
        within = " [dim](within the interval)[/]" if judged.sure is False else ""
        table.add_row(
            f"[{colours[judged.verdict]}]{judged.verdict}[/]",
            f"{escape(claim.says)} [dim]{escape(place)}[/]\n"
            f"paper: {escape(claim.paper or '-')}; ours: [bold]{escape(judged.ours)}[/]{within}\n"
            f"[dim]asked: {escape(judged.asked)}[/]",
        )
    console.print(table, highlight=False)
    console.print(f"[bold]{escape(sum_up(result.claims))}[/]", highlight=False)


def show_readings(result: Result, console: Console) -> None:
    """Every claim with the readings under which it holds, and what decides it."""
    console.print(f"[bold]{result.campaign.title}[/]", highlight=False)
    table = Table(box=None, show_header=False, padding=(0, 1, 1, 0))
    for each in reread(result):
        claim = each.claim
        place = ", ".join(part for part in (claim.section, claim.figure) if part)
        table.add_row(
            f"{escape(claim.says)} [dim]{escape(place)}[/]\n"
            f"[bold]{escape(each.answer)}[/]; decided by {escape(each.decided_by)}"
        )
    console.print(table, highlight=False)


def show_comparison(result: Result, console: Console) -> None:
    """The protocols of each point side by side: best marked, ties said to be ties."""
    for sweep, asked in result.campaign.sweeps.items():
        for point in asked.expand():
            place = (sweep, point_text(point))
            table = Table("", *asked.protocols)
            for metric in SIDE_BY_SIDE:
                ranked = rank(result, place, metric, asked.protocols)
                if not ranked:
                    continue
                unit = f" ({METRICS[metric].unit})" if METRICS[metric].unit else ""
                cells = []
                for protocol in asked.protocols:
                    told = ranked.get(protocol)
                    mark = {"best": " [bold green]best[/]", "tie": " [green]tie[/]", "": ""}
                    cells.append(f"{told[0]}{mark[told[1]]}" if told else "-")
                table.add_row(f"{METRICS[metric].title}{unit}", *cells)
            if len(asked.expand()) > 1:
                console.print(f"[bold]{escape(tell(place[1]))}[/]", highlight=False)
            console.print(table)
            if found := answer(result, place, asked.protocols):
                first, *rest = map(escape, found.sentences)
                console.print(" ".join([f"[bold]{first}[/]", *rest]), highlight=False)
    console.print(
        "[dim]Means over seeds with 95 % intervals. A tie: the difference to the best, seed by seed, is "
        "within its interval. Delivery decides who serves best.[/]"
    )


def show_runs(result_rows: list[dict[str, Any]], console: Console) -> None:
    """Runs, one a line."""
    table = Table("run", "protocol", "seed", "status", "cpu (s)", "error")
    for row in result_rows:
        cpu = f"{row['cpu']:.1f}" if row["cpu"] is not None else "-"
        table.add_row(row["run"], row["router"], str(row["seed"]), row["status"], cpu, row["error"])
    console.print(table)
