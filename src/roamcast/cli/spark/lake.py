"""The command `roamcast lake`: quality checks, catalog, lineage, migration and retention of facts."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.shared.limits import DISAGREED
from roamcast.cli.shared.spark_options import (
    Conf,
    EventLog,
    Master,
    Remote,
    Ui,
    choose_session,
    optional_session,
    spark_command,
)

if TYPE_CHECKING:
    from roamcast.pipeline.spark.cluster import SparkOptions

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Folder = Annotated[str, typer.Argument(metavar="DIR", help="Campaign folder or URL.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("check")
@spark_command
def check(
    folder: Folder,
    *,
    where: SparkOptions,
    json: Json = False,
) -> None:
    """Run the data-quality checks.

    Their results are written to the table `quality`. The exit code is 1 if a check failed.
    """
    from roamcast.lake.lake import open_lake
    from roamcast.pipeline.campaign_folder import CampaignFolder
    from roamcast.pipeline.quality import check_quality
    from roamcast.pipeline.spark.session import open_session

    store = CampaignFolder(folder)
    store.read_campaign()
    with open_session(where) as spark:
        found = check_quality(spark, open_lake(folder))
    store.write_table("quality", found)
    rows = found.to_pylist()
    if json:
        _print(rows)
    else:
        for row in rows:
            print(f"{row['result']}  {row['check']}" + (f": {row['count']} rows" if row["count"] else ""))
    raise typer.Exit(DISAGREED if any(row["count"] for row in rows) else 0)


@app.command("register")
def register(
    folder: Folder,
    *,
    database: Annotated[str, typer.Option("--database", help="Database, as NAME or CATALOG.NAME.")],
    sql: Annotated[
        bool, typer.Option("--sql", help="Print the statements for Delta tables; do not start Spark.")
    ] = False,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    ui: Ui = False,
    event_log: EventLog = None,
) -> None:
    """Register the tables as external tables in a catalog of Spark."""
    from roamcast.lake.lake import open_lake
    from roamcast.pipeline.catalog import register, write_statements
    from roamcast.pipeline.spark.errors import format_error
    from roamcast.pipeline.spark.session import open_session

    lake = open_lake(folder)
    statements = write_statements(lake, database)
    if sql:
        print(";\n".join(statements) + ";")
        return
    where = choose_session(master, remote, conf, ui, event_log)
    with open_session(where) as spark, format_error("registering tables"):
        names = register(spark, lake, database)
    print(f"registered {len(names)} tables in {database}")


@app.command("lineage")
def lineage(
    folder: Folder,
    run: Annotated[str | None, typer.Option("--run", metavar="ID", help="Only this run.")] = None,
    json: Json = False,
) -> None:
    """Print which code simulated and measured each run."""
    from roamcast.results.errors import CampaignFolderError
    from roamcast.results.results_folder import ResultsFolder

    rows = [
        row for row in ResultsFolder(folder).read_table("lineage").to_pylist() if run in (None, row["run"])
    ]
    if run is not None and not rows:
        raise CampaignFolderError(f"{folder}: the table metrics has no run {run}")
    if json:
        _print(rows)
        return
    for row in rows:
        print(f"{row['run']}  simulated by {row['version']}, measured by {row['measured_by']}")


@app.command("migrate")
@spark_command
def migrate(
    folder: Folder,
    *,
    where: SparkOptions,
) -> None:
    """Rewrite facts of an older format in the present one.

    It runs in this process or on Spark.
    """
    from roamcast.lake.delta import FORMAT
    from roamcast.pipeline.campaign_folder import CampaignFolder
    from roamcast.pipeline.committing.migration import migrate

    store = CampaignFolder(folder)
    store.read_campaign()
    with store.lock(), optional_session(where) as spark:
        count = migrate(store, spark)
    print(f"migrated {count} runs to format {FORMAT}" if count else f"the lake has format {FORMAT} already")


@app.command("prune")
@spark_command
def prune(
    folder: Folder,
    *,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="TIME", help="Age of runs since their commit, such as 30d.")
    ],
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove them; without it, only print what would be removed.")
    ] = False,
    where: SparkOptions,
    json: Json = False,
) -> None:
    """Remove the facts of runs that were committed long ago.

    Metrics and other tables stay.
    """
    from roamcast.pipeline.campaign_folder import CampaignFolder
    from roamcast.pipeline.committing.maintenance import parse_age, prune_older

    seconds = parse_age(older_than)
    store = CampaignFolder(folder)
    store.check_layout()
    store.read_campaign()
    with (
        store.lock() if remove else nullcontext(),
        optional_session(where) if remove else nullcontext() as spark,
    ):
        found = prune_older(store, seconds, spark, remove=remove)
    if json:
        _print(found)
        return
    print(
        f"{'removed' if remove else 'would remove'} the facts of {len(found.runs)} runs "
        f"({found.bytes / 1e6:,.1f} MB as staged); {found.kept} runs stay"
    )
    if found.runs and not remove:
        print("remove them with: --remove")


def _print(value: object) -> None:
    import msgspec

    print(msgspec.json.encode(value).decode())
