"""roamcast why: what became of events that were not delivered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    facts: Annotated[Path, typer.Argument(metavar="FACTS_DIR", help="What `roamcast run --facts` wrote.")],
    event: Annotated[
        str | None, typer.Option(metavar="E", help="One event, as publisher/sequence: 0/641.")
    ] = None,
    node: Annotated[int | None, typer.Option(metavar="N", help="The node that should have got it.")] = None,
) -> None:
    """Tell why events were not delivered; with --event and --node, the story of one."""
    from roamcast.errors import UserError
    from roamcast.why.story import name_publication, read_publication, tally, tell
    from roamcast.facts.tables import Facts

    if (event is None) != (node is None):
        raise UserError("--event and --node go together: give both for one story, none for all causes")
    happened = Facts.read(facts)
    if event is not None and node is not None:
        for line in tell(happened, read_publication(event), node):
            print(line)
        return
    from rich.console import Console
    from rich.table import Table

    causes, expected = tally(happened)
    lost = sum(each.times for each in causes)
    share = f", {lost / expected:.1%}" if expected else ""
    table = Table(
        title=f"{lost:,} of {expected:,} expected deliveries were lost{share}", title_justify="left"
    )
    table.add_column("because")
    table.add_column("times", justify="right")
    table.add_column("of the losses", justify="right")
    table.add_column("for instance")
    for each in causes:
        case = f"--event {name_publication(each.publication)} --node {each.node}"
        table.add_row(each.cause.value, f"{each.times:,}", f"{each.times / lost:.1%}", case)
    Console().print(table)
