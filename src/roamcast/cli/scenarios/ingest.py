"""The command `roamcast ingest`: import ns-2 traces as facts, and movement traces as scenarios."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roamcast.cli.shared.limits import LARGEST_SEED
from roamcast.cli.shared.spark_options import Conf, EventLog, Master, Remote, Ui, Warm, choose_session
from roamcast.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from roamcast.ingest.description import TraceDescription
    from roamcast.metrics.metric import Value
    from roamcast.pipeline.spark.cluster import SparkOptions

_SHOWN = {
    "publications": "events",
    "delivery_rate": "delivered",
    "delay_mean": "delay",
    "messages": "messages",
    "frames": "frames",
    "airtime": "airtime",
    "messages_failed": "link failures",
}
"Metrics that are printed, with their titles; metrics.parquet and --json have all metrics."


def command(  # noqa: PLR0917 - typer takes options as parameters
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Trace files of one format, optionally .gz.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Output folder for facts or movement.")],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="ns2trace, ns2movement, bonnmotion, sumofcd or gps; detected if omitted.",
        ),
    ] = None,
    movement: Annotated[
        str | None, typer.Option("--movement", metavar="FILE", help="ns-2: movement file of the run.")
    ] = None,
    warmup: Annotated[str, typer.Option(help="ns-2: time at the start to leave out of the metrics.")] = "0 s",
    range: Annotated[str | None, typer.Option(help="ns-2: radio range, for example 250 m.")] = None,
    data_rate: Annotated[str, typer.Option(help="ns-2: rate of unicast frames.")] = "1 Mb/s",
    basic_rate: Annotated[str, typer.Option(help="ns-2: rate of broadcasts and RTS.")] = "1 Mb/s",
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="ns-2: seed to record in the tables.")
    ] = 0,
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            "--with-run",
            metavar="FACTS",
            help="Facts folder of a Roamcast run to include in the metrics table. May be repeated.",
        ),
    ] = None,
    presence: Annotated[
        str,
        typer.Option(
            metavar="recorded|always",
            help="Whether nodes are present only while the trace has positions of them, or always.",
        ),
    ] = "recorded",
    tolerance: Annotated[
        str,
        typer.Option(
            metavar="LENGTH",
            help="Movement: omit positions at most this far from a straight line between their neighbours.",
        ),
    ] = "0 m",
    geo: Annotated[bool, typer.Option("--geo", help="SUMO: positions are longitude and latitude.")] = False,
    spark: Annotated[bool, typer.Option("--spark", help="Read on Spark, even small files.")] = False,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    ui: Ui = False,
    event_log: EventLog = None,
    warm: Warm = None,
    replace: Annotated[
        bool, typer.Option("--overwrite", help="Overwrite the import of other files.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Import ns-2 traces as facts, or movement traces as scenarios."""
    import json as json_

    from roamcast.ingest.importing import check_output, conclude, import_movement, recognise
    from roamcast.units import parse_length

    if presence not in ("recorded", "always"):
        raise UserError(f"--presence {presence!r}: expected recorded or always")
    found, form = recognise(files, format)
    described = _print_notes(warmup, range, data_rate, basic_rate)._replace(seed=seed, movement=movement)
    question = {"files": found, "format": form.name, "geo": geo, "presence": presence}
    question["description"] = described._asdict()
    if within := parse_length(tolerance):
        question["tolerance"] = within
    if within < 0:
        raise UserError(f"--tolerance {tolerance}: expected a length of 0 m or more")
    check_output(out, question, replace=replace)
    report: dict[str, Any]
    if form.name != "ns2trace":
        options = {"geo": str(geo).lower()}
        always = presence == "always"
        report = {"movement": import_movement(found, form, options, out, always=always, tolerance=within)}
    else:
        where = choose_session(master, remote, conf, ui, event_log, warm=warm)
        asked = spark or warm is True or bool(where.arguments())
        report = {"runs": _import_traces(found, described, out, beside or [], where, spark=asked)}
    conclude(out, question, report)
    if json:
        print(json_.dumps(report))
    else:
        _show(report, out)


def _import_traces(
    files: list[str],
    described: TraceDescription,
    out: Path,
    beside: list[Path],
    where: SparkOptions,
    *,
    spark: bool,
) -> list[dict[str, Any]]:
    """Import ns-2 traces and return a row per run: on Spark if it is asked for or if they are large."""
    from roamcast.ingest.importing import import_traces

    for folder in beside:
        if not (folder / "run.json").is_file():
            raise UserError(f"--with-run {folder}: has no run.json; expected a facts folder of a run")
    runs = import_traces(files, described, out, lambda: _session(where), spark=spark)
    rows = [run | _measure(out / run["folder"]) for run in runs]
    rows += [{"folder": str(folder), "notes": []} | _measure(folder) for folder in beside]
    _write_metrics(rows, out)
    return rows


@contextmanager
def _session(where: SparkOptions) -> Iterator[SparkSession]:
    from roamcast.pipeline.spark.errors import format_error
    from roamcast.pipeline.spark.session import open_session

    with open_session(where) as started, format_error("reading traces"):
        yield started


def _print_notes(warmup: str, range: str | None, data_rate: str, basic_rate: str) -> TraceDescription:
    from roamcast.ingest.description import TraceDescription
    from roamcast.ingest.transmissions import LinkRates
    from roamcast.units import parse_length, parse_rate, parse_time

    rates = LinkRates(parse_rate(data_rate), parse_rate(basic_rate))
    reach = None if range is None else parse_length(range)
    if min(rates) <= 0 or (reach is not None and reach <= 0) or parse_time(warmup) < 0:
        raise UserError("--data-rate, --basic-rate and --range must be positive, and --warmup not negative")
    return TraceDescription(warmup=parse_time(warmup), range=reach, rates=rates)


def _measure(folder: Path) -> dict[str, Any]:
    """Return the metrics of a run from its facts folder, computed as in campaigns."""
    from roamcast.ingest.folder import FolderSource
    from roamcast.metrics.declarations import evaluate
    from roamcast.metrics.metric_input import MetricInput
    from roamcast.metrics.run_metrics import setting_of

    run = FolderSource(folder).run()
    about = {"scenario": run.scenario, "protocol": run.protocol, "seed": run.seed}
    return about | {"metrics": evaluate(MetricInput(FolderSource(folder), setting_of(run)))}


def _write_metrics(rows: list[dict[str, Any]], out: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from roamcast.campaign.tables import METRICS_TABLE

    about = [("scenario", pa.string()), ("protocol", pa.string()), ("seed", pa.int64())]
    schema = pa.schema(
        [METRICS_TABLE.field("run"), *(pa.field(*each) for each in about), *list(METRICS_TABLE)[1:]]
    )
    values = [
        {"run": row["folder"], **{name: row[name] for name, _ in about}}
        | {name: None if value is None else float(value) for name, value in row["metrics"].items()}
        for row in rows
    ]
    pq.write_table(pa.Table.from_pylist(values, schema), out / "metrics.parquet")


def _show(report: dict[str, Any], out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if "movement" in report:
        described = report["movement"]
        area = f"{described['width']:,.1f} m x {described['height']:,.1f} m"
        console.print(
            f"{described['nodes']:,} nodes, {described['duration']:,.1f} s, {area}", highlight=False
        )
        console.print(
            f"{described['late']:,} nodes arrive after the start and {described['early']:,} leave "
            "before the end",
            highlight=False,
        )
        if described["bad"]:
            lines = f"{described['bad']:,} of {described['good'] + described['bad']:,} lines are bad"
            console.print(f"{lines}: {out / 'bad.parquet'}", highlight=False, soft_wrap=True)
        if described["doubled"]:
            console.print(
                f"{described['doubled']:,} positions ignored: second positions of a node at the same time",
                highlight=False,
            )
        console.print(f"try: roamcast run {described['scenario']}", highlight=False, soft_wrap=True)
        return
    table = Table()
    for title in ("run", "protocol"):
        table.add_column(title)
    for title in _SHOWN.values():
        table.add_column(title, justify="right")
    for row in report["runs"]:
        shown = (_print_result(name, row["metrics"][name]) for name in _SHOWN)
        table.add_row(row["scenario"], row["protocol"], *shown)
    console.print(table)
    for row in report["runs"]:
        for note in row["notes"]:
            console.print(f"{row['scenario']}: {note}", highlight=False, soft_wrap=True)
    console.print(f"facts and metrics in {out}", highlight=False, soft_wrap=True)


def _print_result(name: str, value: Value) -> str:
    if value is None:
        return "-"
    if name == "delivery_rate":
        return f"{100 * value:.1f} %"
    if name in ("delay_mean", "airtime"):
        return f"{value:.3f} s"
    return f"{value:,}"
