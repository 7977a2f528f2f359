"""Differences between two campaigns, printed on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamcast.metrics.declarations import METRICS
from roamcast.report.numbers import format_interval, short
from roamcast.report.result import describe_point

if TYPE_CHECKING:
    from rich.console import Console

    from roamcast.pipeline.changes import CampaignChanges, MetricChange

MOST_SHOWN = 40


def show_changes(found: CampaignChanges, console: Console) -> None:
    """Print the significant changes as a table, and the number of the others."""
    from rich.table import Table

    sure = [change for change in found.changes if change.significant]
    unsure = len(found.changes) - len(sure)
    console.print(
        f"{found.compared} pairs of runs compared, {found.same_facts} of them the same run; "
        f"{found.only_before} places only before, {found.only_after} only after",
        highlight=False,
    )
    if sure:
        table = Table(title=f"{len(sure)} significant changes", title_justify="left")
        for heading in ("protocol", "at", "metric"):
            table.add_column(heading)
        for heading in ("before", "after", "difference", "seeds"):
            table.add_column(heading, justify="right", no_wrap=True)
        for change in sure[:MOST_SHOWN]:
            table.add_row(*_row(change))
        console.print(table)
        if len(sure) > MOST_SHOWN:
            console.print(f"and {len(sure) - MOST_SHOWN} more; --json has all of them")
    else:
        console.print("nothing changed significantly")
    if unsure:
        console.print(
            f"{unsure} other numbers differ within their intervals, or have one seed", highlight=False
        )


def _row(change: MetricChange) -> list[str]:
    ends = (change.difference - (change.half or 0.0), change.difference + (change.half or 0.0))
    difference = format_interval(change.difference, *ends) if change.half else short(change.difference)
    return [
        change.protocol,
        f"{change.sweep}: {describe_point(change.point)}",
        METRICS[change.metric].title,
        short(change.before),
        short(change.after),
        difference,
        str(change.seeds),
    ]
