"""The command `roamcast watch`: metrics of a live network, or of a campaign, while it runs."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.shared.progress import stop_on_interrupt
from roamcast.cli.shared.spark_options import Conf, EventLog, Master, Ui, choose_session

if TYPE_CHECKING:
    from roamcast.pipeline.watching.live import LiveWatcher


def command(  # noqa: PLR0917 - typer takes options as parameters
    folder: Annotated[
        str,
        typer.Argument(metavar="DIR", help="Folder into which live nodes write facts, or a campaign folder."),
    ],
    once: Annotated[bool, typer.Option("--once", help="Show what is there now, and exit.")] = False,
    facts: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write the facts so far as those of one run.")
    ] = None,
    master: Master = None,
    conf: Conf = None,
    ui: Ui = False,
    event_log: EventLog = None,
    json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each change.")] = False,
) -> None:
    """Show metrics of a live network while it runs, and write them to DIR/watch/metrics.parquet."""
    from roamcast.facts.live.network import is_live
    from roamcast.pipeline.spark.session import open_session
    from roamcast.pipeline.watching.live import LiveWatcher

    place = Path(folder)
    if "://" in folder or not is_live(place):
        from roamcast.cli.campaigns.watch import watch

        watch(folder, once=once, master=master, conf=conf, ui=ui, event_log=event_log, json=json)
        return
    watcher = LiveWatcher(place, _print_json if json else _print_line)
    with (
        stop_on_interrupt(f"stopped watching; continue with: roamcast watch {folder}", lambda: None),
        open_session(choose_session(master, None, conf, ui, event_log)) as spark,
    ):
        watcher.watch(spark, once=once)
    if facts is not None and watcher.facts is not None:
        watcher.facts.write(facts)
    if not json:
        _show(watcher)


def _print_json(watcher: LiveWatcher) -> None:
    assert watcher.facts is not None
    run = watcher.facts.run
    record = {"network": run.scenario, "protocol": run.protocol, "nodes": run.nodes, "time": run.duration}
    print(json_module.dumps(record | {"metrics": watcher.metrics}), flush=True)


def _print_line(watcher: LiveWatcher) -> None:
    assert watcher.facts is not None
    run, found = watcher.facts.run, watcher.metrics
    rate = found.get("delivery_rate")
    share = "-" if rate is None else f"{rate:.4f}"
    print(
        f"{run.duration:.0f} s, {run.nodes} nodes: {found['publications']:.0f} events, delivered {share}",
        file=sys.stderr,
        flush=True,
    )


def _show(watcher: LiveWatcher) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, value in watcher.metrics.items():
        if value is not None:
            table.add_row(name, f"{value:,.6g}")
    Console().print(table)
