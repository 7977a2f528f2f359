"""The command `roamcast testbed`: run a scenario on live nodes, one process each."""

from __future__ import annotations

import json as json_module
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from roamcast.cli.scenarios.run import check_output_folder, show_metrics, show_progress
from roamcast.cli.shared.limits import FAILED, LARGEST_SEED
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate

if TYPE_CHECKING:
    from roamcast.facts.tables import Facts
    from roamcast.testbed.comparison import RunComparison, RunFigures
    from roamcast.testbed.run import TestbedRun


def command(  # noqa: PLR0917 - typer takes options as parameters
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="Scenario file, or name of a shipped scenario.")
    ],
    protocol: Annotated[str, typer.Option(help="Protocol; `roamcast protocols` lists them.")] = "flooding",
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of movement, workload and faults.")
    ] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario. May be repeated."),
    ] = None,
    facts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the facts of the run to this folder.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--overwrite", help="Overwrite a different run in the facts folder.")
    ] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Simulate the same run, and print both side by side.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run one scenario on live nodes in real time and print the metrics.

    Each node is a process; a medium follows the scenario's movement, radio and MAC. The exit code is 3 if the
    machine was too busy for a valid run.
    """
    from roamcast.routing import catalogue
    from roamcast.testbed.run import run_testbed

    world = load(locate(scenario), settings or ())
    catalogue.find(protocol)
    if facts is not None:
        check_output_folder(facts, world, protocol, seed, replace)
    outcomes: list[TestbedRun] = []

    def play(**options: Any) -> Facts:
        found, outcome = run_testbed(world, protocol, seed, **options)
        outcomes.append(outcome)
        return found

    title = f"{world.name}, {protocol}, seed {seed}, live"
    recorded = play() if json else show_progress(play, title, world.duration)
    problem = outcomes[0].problem
    if facts is not None:
        recorded.write(facts)
    if compare:
        _compare(recorded, partial(_simulate, world, protocol, seed), outcomes[0], json)
    else:
        _print(recorded, outcomes[0], facts, json)
    if problem is not None:
        print(f"roamcast: invalid run: {problem}", file=sys.stderr)
        raise typer.Exit(FAILED)


def _simulate(world: Any, protocol: str, seed: int) -> Facts:
    from roamcast.sim.run import simulate

    return simulate(world, protocol, seed)


def _print(recorded: Facts, outcome: TestbedRun, facts: Path | None, json: bool) -> None:
    from roamcast.metrics.run_metrics import measure

    metrics = measure(recorded)
    if json:
        record = metrics.to_dict() | {"testbed": _tell(outcome)}
        print(json_module.dumps(record))
    else:
        show_metrics(metrics, facts)


def _compare(recorded: Facts, simulate: Any, outcome: TestbedRun, json: bool) -> None:
    from roamcast.testbed.comparison import compare

    found = compare(simulate(), recorded)
    if json:
        record = {"simulated": found.simulated._asdict(), "live": found.live._asdict()}
        print(json_module.dumps(record | {"agrees": found.agrees, "testbed": _tell(outcome)}))
    else:
        _show_comparison(found, recorded)


def _show_comparison(found: RunComparison, recorded: Facts) -> None:
    from rich.console import Console
    from rich.table import Table

    run = recorded.run
    table = Table(title=f"{run.scenario}, {run.protocol}, seed {run.seed}", title_justify="left")
    table.add_column()
    for name in ("simulated", "live"):
        table.add_column(name, justify="right")
    for label, shown in _ROWS:
        table.add_row(label, shown(found.simulated), shown(found.live))
    table.add_section()
    for kind in dict.fromkeys((*found.simulated.kinds, *found.live.kinds)):
        counts = (f"{each.kinds.get(kind, 0):,}" for each in found)
        table.add_row(f"messages, {kind}", *counts)
    Console().print(table)
    print("both agree" if found.agrees else "they differ by more than 0.05 in delivery or 15 % in messages")


def _number(value: float | None, digits: int, factor: float = 1.0, unit: str = "") -> str:
    return "-" if value is None else f"{value * factor:.{digits}f}{unit}"


def _delivery(each: RunFigures) -> str:
    return _number(each.delivery, 3)


def _delay(each: RunFigures) -> str:
    return _number(each.delay, 1, 1000, " ms")


def _frames(each: RunFigures) -> str:
    return _number(each.frames_per_event, 2)


def _link_frames(each: RunFigures) -> str:
    return _number(each.link_frames_per_event, 2)


_ROWS = (
    ("delivered", _delivery),
    ("delay, mean", _delay),
    ("duplicate deliveries", lambda each: str(each.duplicates)),
    ("messages of routers per event", _frames),
    ("messages between links per event", _link_frames),
)


def _tell(outcome: TestbedRun) -> dict[str, Any]:
    return {
        "valid": outcome.problem is None,
        "problem": outcome.problem,
        "frames": msgspec.structs.asdict(outcome.frames),
        "timers": msgspec.structs.asdict(outcome.timers),
    }
