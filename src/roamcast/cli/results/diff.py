"""The command `roamcast diff`: print the first differences between two runs."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A", help="Facts folder of `roamcast run --facts`, or a run of a campaign: DIR/run=ID."
        ),
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="Another run.")],
    json: Annotated[bool, typer.Option("--json", help="Print the difference as one JSON object.")] = False,
) -> None:
    """Print the first differences between two runs (exit code 1), or that they are equal (0)."""
    from roamcast.facts.diff import compare, describe
    from roamcast.lake.reading import read_facts

    difference = compare(read_facts(a), read_facts(b))
    if json:
        import msgspec

        record = {"equal": difference.equal, **msgspec.to_builtins(difference)}
        print(msgspec.json.encode(record).decode())
    else:
        if difference.equal:
            print("equal: both runs have the same facts")
        for line in describe(difference, a, b):
            print(line)
    raise typer.Exit(0 if difference.equal else 1)
