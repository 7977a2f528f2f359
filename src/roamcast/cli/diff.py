"""roamcast diff: where two runs part."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    a: Annotated[Path, typer.Argument(metavar="A", help="What `roamcast run --facts` wrote.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Another such folder.")],
    json: Annotated[bool, typer.Option("--json", help="Tell the difference as one JSON object.")] = False,
) -> None:
    """Tell whether two runs are equal (exit code 0), or where they part (exit code 1)."""
    from roamcast.facts.diff import compare, describe
    from roamcast.facts.tables import Facts

    difference = compare(Facts.read(a), Facts.read(b))
    if json:
        import msgspec

        told = {"equal": difference.equal, **msgspec.to_builtins(difference)}
        print(msgspec.json.encode(told).decode())
    else:
        if difference.equal:
            print("equal: the same happened in both runs")
        for line in describe(difference, str(a), str(b)):
            print(line)
    raise typer.Exit(0 if difference.equal else 1)
