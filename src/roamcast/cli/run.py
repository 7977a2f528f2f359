"""roamcast run: one scenario, one protocol, one seed."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.shared.limits import FAILED, LARGEST_SEED
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate

if TYPE_CHECKING:
    from roamcast.facts.tables import Facts
    from roamcast.metrics.outcome import Metrics
    from roamcast.scenario.model import Scenario


def command(  # noqa: PLR0917 - typer takes options as parameters
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO", help="A scenario file, or the name of one that comes with roamcast."
        ),
    ],
    protocol: Annotated[str, typer.Option(help="One of those that `roamcast protocols` lists.")] = "flooding",
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The same seed gives the same run.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help='Change the scenario: radio.range="200 m". May be repeated.'
        ),
    ] = None,
    facts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write what happened to this folder.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Give up another run that the folder of facts holds.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Tell the metrics as one JSON object.")] = False,
) -> None:
    """Run one scenario under one protocol and tell how it went."""
    from roamcast.metrics.outcome import measure
    from roamcast.routing import catalogue

    world = load(locate(scenario), settings or ())
    catalogue.find(protocol)
    if facts is not None:
        _claim(facts, world, protocol, seed, replace)
    with TemporaryDirectory(prefix="roamcast-run-") as spare:
        happened = _simulate(world, protocol, seed, facts or Path(spare), quiet=json, kept=facts is not None)
        metrics = measure(happened)
        if facts is not None:
            (facts / "traceback.txt").unlink(missing_ok=True)  # of an attempt that failed
        if json:
            import msgspec

            from roamcast.metrics.declarations import evaluate
            from roamcast.metrics.outcome import look

            told = metrics.to_dict() | {"measures": evaluate(look(happened))}
            print(msgspec.json.encode(told).decode())
        else:
            _show(metrics, facts)


def _claim(folder: Path, scenario: Scenario, protocol: str, seed: int, replace: bool) -> None:
    """Refuse a folder that holds another run, before this one takes its time."""
    from roamcast.cli.shared.belonging import claim_facts
    from roamcast.scenario.resolved import digest_files, spell_out

    told = {"scenario": scenario.name, "protocol": protocol, "seed": seed}
    told |= {"resolved": spell_out(scenario), "files": digest_files(scenario)}
    claim_facts(
        folder, told | {"parameters": scenario.parameters(protocol).model_dump(mode="json")}, replace=replace
    )


def _simulate(scenario: Scenario, protocol: str, seed: int, facts: Path, *, quiet: bool, kept: bool) -> Facts:
    """Run it; a router that fails is told in a line, and its traceback kept with the run, or shown."""
    from roamcast.sim.failure import RouterFailed

    try:
        return _play(scenario, protocol, seed, quiet, facts)
    except RouterFailed as error:
        if not kept:
            print(error.traceback, file=sys.stderr, end="")
        else:
            file = facts / "traceback.txt"
            facts.mkdir(parents=True, exist_ok=True)
            file.write_text(error.traceback, encoding="utf-8", errors="backslashreplace")
            print(f"traceback: {file}", file=sys.stderr)
        print(f"roamcast: {error}", file=sys.stderr)
        raise typer.Exit(FAILED) from None


def _play(scenario: Scenario, protocol: str, seed: int, quiet: bool, folder: Path) -> Facts:
    from roamcast.sim.run import simulate

    if quiet:
        return simulate(scenario, protocol, seed, folder=folder)
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    title = f"{scenario.name}, {protocol}, seed {seed}"
    columns = (TextColumn(title), BarColumn(), TextColumn("{task.completed:.0f} s"), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(title, total=scenario.duration)
        return simulate(
            scenario, protocol, seed, progress=lambda now: bar.update(task, completed=now), folder=folder
        )


def _show(metrics: Metrics, facts: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    from roamcast.metrics.summary import lines

    table = Table(
        title=f"{metrics.scenario}, {metrics.protocol}, seed {metrics.seed}",
        title_justify="left",
        show_header=False,
    )
    table.add_column()
    table.add_column(justify="right")
    for section in lines(metrics):
        for name, value in section:
            table.add_row(name, value)
        table.add_section()
    console = Console()
    console.print(table)
    if facts is not None:
        console.print(f"facts in {facts}", highlight=False, soft_wrap=True)
