"""The commands `roamcast campaign verify`, `prune` and `diff`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.shared.limits import DISAGREED
from roamcast.cli.shared.spark_options import optional_session, spark_command

if TYPE_CHECKING:
    from roamcast.pipeline.spark.cluster import SparkOptions

Folder = Annotated[str, typer.Argument(metavar="DIR", help="Campaign folder or URL.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@spark_command
def verify(
    folder: Folder,
    *,
    repair: Annotated[
        bool, typer.Option("--repair", help="Remove damaged runs, so that they are simulated again.")
    ] = False,
    where: SparkOptions,
    json: Json = False,
) -> None:
    """Verify the checksums of all facts.

    The exit code is 0 if they are intact, else 1. It runs in this process, or on Spark if an option names a
    master, a server or the warm session.
    """
    from roamcast.pipeline.campaign_folder import CampaignFolder
    from roamcast.pipeline.committing.maintenance import verify

    store = CampaignFolder(folder)
    store.check_layout()
    store.read_campaign()
    with (
        store.lock() if repair else nullcontext(),
        optional_session(where) as spark,
    ):
        found = verify(store, spark, repair=repair)
    if json:
        _print(found)
    else:
        print(f"{found.files} files of {found.runs} runs, {found.bytes / 1e6:,.1f} MB", end="")
        print(f": {len(found.damaged)} damaged" if found.damaged else ": all intact")
        for file, what in found.damaged.items():
            print(f"{file} {what}")
        if found.lost:
            print(f"{len(found.lost)} runs removed; run the campaign again to simulate them")
        elif found.damaged:
            print(f"remove them with: roamcast campaign verify {folder} --repair")
    raise typer.Exit(DISAGREED if found.damaged else 0)


@spark_command
def prune(
    folder: Folder,
    *,
    where: SparkOptions,
    json: Json = False,
) -> None:
    """Remove runs that are no longer planned.

    Files that no table refers to are removed, too. It runs in this process, or on Spark if an option names a
    master, a server or the warm session.
    """
    from roamcast.pipeline.campaign_folder import CampaignFolder
    from roamcast.pipeline.committing.maintenance import prune

    store = CampaignFolder(folder)
    store.check_layout()
    store.read_campaign()
    with store.lock(), optional_session(where) as spark:
        found = prune(store, spark)
    if json:
        _print(found)
    else:
        print(
            f"removed {found.runs} runs that the campaign does not plan and {found.files} unreferenced files"
        )


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="Campaign folder.")],
    b: Annotated[
        str, typer.Argument(metavar="B", help="Another campaign folder, of another version or configuration.")
    ],
    json: Json = False,
) -> None:
    """Print metrics that differ significantly.

    The exit code is 1 if there are some, else 0.
    """
    from rich.console import Console

    from roamcast.pipeline.campaign_folder import CampaignFolder
    from roamcast.pipeline.changes import compare_campaigns
    from roamcast.report.changes import show_changes

    found = compare_campaigns(CampaignFolder(a), CampaignFolder(b))
    sure = [change for change in found.changes if change.significant]
    if json:
        import msgspec

        changes = [msgspec.to_builtins(each) | {"significant": each.significant} for each in found.changes]
        _print(msgspec.to_builtins(found) | {"changes": changes})
    else:
        show_changes(found, Console())
    raise typer.Exit(DISAGREED if sure else 0)


def _print(value: object) -> None:
    import msgspec

    print(msgspec.json.encode(value).decode())
