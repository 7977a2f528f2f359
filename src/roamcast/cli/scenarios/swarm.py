"""The command `roamcast swarm`: test protocols with generated histories of faults."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from roamcast.cli.shared.routers import Routers, add_routers
from roamcast.routing import catalogue
from roamcast.units import parse_quantity

_TIME = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def command(
    protocols: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Protocols; all if omitted.")
    ] = None,
    router: Routers = None,
    seed: Annotated[
        int | None, typer.Option(help="First seed; random if omitted. Without --duration, only this history.")
    ] = None,
    for_: Annotated[
        str | None,
        typer.Option("--duration", metavar="TIME", help="Run histories for this long, for example 10m."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run generated histories with faults and report violated laws (exit code 1)."""
    import msgspec

    from roamcast.testing.swarm.explore import explore
    from roamcast.testing.swarm.history import write
    from roamcast.testing.swarm.judge import LawViolation, as_test

    added = add_routers(router)
    names = [*(protocols or ()), *added] or catalogue.working()[0]
    for name in names:
        catalogue.find(name)
    fallback = "1m" if seed is None else "0s"
    seconds = parse_quantity(for_ or fallback, _TIME, "10m")
    first = int.from_bytes(os.urandom(4)) if seed is None else seed

    def show(finding: LawViolation) -> None:
        history = finding.history
        print(f"\n{history.protocol}, seed {history.seed}, law {finding.law!r}: {finding.description}")
        if finding.error is not None:
            print(finding.error)
        print(f"\n{write(history)}\n\n{as_test(finding)}", flush=True)

    # With --json stdout has one object only; the seed goes to stderr in case the search is interrupted.
    print(f"seed {first}: {', '.join(names)}", file=sys.stderr if json else sys.stdout, flush=True)
    found = explore(names, first, seconds=seconds, report=(lambda finding: None) if json else show)
    if json:
        print(msgspec.json.encode(found).decode())
    else:
        played = ", ".join(f"{count} of {name}" for name, count in found.histories.items())
        print(f"{len(found.findings)} laws broken in {sum(found.histories.values())} histories ({played})")
        for name, laws in found.violations.items():
            for law, times in laws.items():
                print(f"{name} broke {law!r} in {times} of {found.histories[name]} histories")
    raise typer.Exit(1 if found.findings else 0)
