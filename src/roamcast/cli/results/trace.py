"""The command `roamcast trace`: print what one node did, in order of time."""

from __future__ import annotations

from math import inf
from typing import Annotated

import typer

from roamcast.errors import UserError


def command(
    facts: Annotated[
        str,
        typer.Argument(metavar="FACTS", help="Facts folder of a run, or DIR/run=ID of a campaign."),
    ],
    *,
    node: Annotated[int, typer.Option(help="Number of the node.")],
    from_: Annotated[
        str, typer.Option("--from", metavar="TIME", help="Start of the trace, for example 20s.")
    ] = "0s",
    to: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="End of the trace; by default that of the run.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a list of JSON objects.")] = False,
) -> None:
    """Print a node's transmissions, deliveries, drops, interests and states in order of time."""
    from roamcast.facts.node_trace import trace_node
    from roamcast.lake.reading import read_facts
    from roamcast.units import parse_time

    begin, end = parse_time(from_), inf if to is None else parse_time(to)
    if end < begin:
        raise UserError(f"--to {to!r} is before --from {from_!r}")
    steps = trace_node(read_facts(facts), node, begin, end)
    if json:
        import msgspec

        print(msgspec.json.encode(steps).decode())
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("time (s)", justify="right", no_wrap=True)
    for name in ("what", "message", "peer", "event", "detail"):
        table.add_column(name, overflow="fold")
    for step in steps:
        peer = "" if step.peer is None else str(step.peer)
        cells = (step.what, step.kind, peer, step.publication, step.detail)
        table.add_row(f"{step.time:.6f}", *map(escape, cells))
    Console().print(table if steps else f"node {node} has no facts in this interval", highlight=False)
