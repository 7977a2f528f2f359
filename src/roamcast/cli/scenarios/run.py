"""The command `roamcast run`: simulate one scenario with one protocol and one seed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.shared.limits import FAILED, LARGEST_SEED
from roamcast.errors import UserError
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate

if TYPE_CHECKING:
    from roamcast.facts.tables import Facts
    from roamcast.metrics.run_metrics import RunMetrics
    from roamcast.scenario.model import Scenario


def command(  # noqa: PLR0917 - typer takes options as parameters
    scenario: Annotated[
        str,
        typer.Argument(metavar="SCENARIO", help="Scenario file, or name of a shipped scenario."),
    ],
    protocol: Annotated[
        str | None, typer.Option(help="Protocol; `roamcast protocols` lists them. By default flooding.")
    ] = None,
    router: Annotated[
        str | None,
        typer.Option(metavar="FILE.py:CLASS", help="Run the router in this file, instead of --protocol."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of all random numbers of the run.")
    ] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help='Change a key of the scenario: radio.range="200 m". May be repeated.',
        ),
    ] = None,
    facts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the facts of the run to this folder.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--overwrite", help="Overwrite a different run in the facts folder.")
    ] = False,
    count_expectations: Annotated[
        bool,
        typer.Option(
            "--count-expectations",
            help="Record how many nodes expect an event, without a row for each; for very many subscribers.",
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the metrics as one JSON object.")] = False,
) -> None:
    """Run one scenario under one protocol and print its metrics."""
    from roamcast.metrics.run_metrics import measure
    from roamcast.routing import catalogue
    from roamcast.routing.router_file import add_file
    from roamcast.sim.run import simulate

    if router is not None and protocol is not None:
        raise UserError("--router and --protocol: give one of them")
    protocol = protocol or "flooding" if router is None else add_file(router)
    world = load(locate(scenario), settings or ())
    catalogue.find(protocol)
    if facts is not None:
        check_output_folder(facts, world, protocol, seed, replace)
    with TemporaryDirectory(prefix="roamcast-run-") as spare:
        folder = facts or Path(spare)
        play = partial(simulate, world, protocol, seed, folder=folder, count_expectations=count_expectations)
        title = "" if json else f"{world.name}, {protocol}, seed {seed}"
        recorded = play_run(play, title, world.duration, facts)
        metrics = measure(recorded)
        if facts is not None:
            (facts / "traceback.txt").unlink(missing_ok=True)  # of an earlier attempt that failed
        if json:
            import msgspec

            from roamcast.metrics.declarations import evaluate
            from roamcast.metrics.run_metrics import metric_input

            record = metrics.to_dict() | {"measures": evaluate(metric_input(recorded))}
            print(msgspec.json.encode(record).decode())
        else:
            show_metrics(metrics, facts)


def check_output_folder(folder: Path, scenario: Scenario, protocol: str, seed: int, replace: bool) -> None:
    """Raise UserError if the facts folder holds a different run, before the simulation starts."""
    from roamcast.cli.shared.output_folder import reserve_facts_folder
    from roamcast.scenario.resolved import digest_files, resolve

    described = {"scenario": scenario.name, "protocol": protocol, "seed": seed}
    described |= {"resolved": resolve(scenario), "files": digest_files(scenario)}
    reserve_facts_folder(
        folder,
        described | {"parameters": scenario.parameters(protocol).model_dump(mode="json")},
        replace=replace,
    )


def play_run(play: Callable[..., Facts], title: str, duration: float, facts: Path | None = None) -> Facts:
    """Call `play` and return its facts, with a progress bar over `duration` [s] unless `title` is empty.

    If the router raises an exception, print one line, write the traceback to the folder `facts` (or to
    stderr) and exit.
    """
    from roamcast.sim.failure import RouterFailed

    try:
        return show_progress(play, title, duration) if title else play()
    except RouterFailed as error:
        if facts is None:
            print(error.traceback, file=sys.stderr, end="")
        else:
            file = facts / "traceback.txt"
            facts.mkdir(parents=True, exist_ok=True)
            file.write_text(error.traceback, encoding="utf-8", errors="backslashreplace")
            print(f"traceback: {file}", file=sys.stderr)
        print(f"roamcast: {error}", file=sys.stderr)
        raise typer.Exit(FAILED) from None


def show_progress(play: Callable[..., Facts], title: str, duration: float) -> Facts:
    """Call `play` with a progress bar of the simulated time."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(title), BarColumn(), TextColumn("{task.completed:.0f} s"), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(title, total=duration)
        return play(progress=lambda now: bar.update(task, completed=now))


def show_metrics(metrics: RunMetrics, facts: Path | None) -> None:
    """Print the metrics of a run as a table, and where its facts are."""
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
