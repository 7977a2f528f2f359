"""The command `roamcast campaign`: run a campaign file, show its progress, write its report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.campaigns import maintenance, watch
from roamcast.cli.shared.limits import FAILED, MOST_SEEDS
from roamcast.cli.shared.routers import Routers, add_routers, join_campaign
from roamcast.cli.shared.spark_options import Replace, Strict, spark_command

if TYPE_CHECKING:
    from roamcast.pipeline.spark.cluster import SparkOptions

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
for _verb in (watch.watch, maintenance.verify, maintenance.prune, maintenance.diff):
    app.command(_verb.__name__)(_verb)

Folder = Annotated[str, typer.Argument(metavar="DIR", help="Campaign folder or URL.")]
CampaignName = Annotated[
    str, typer.Argument(metavar="CAMPAIGN", help="Campaign file, or name of a shipped campaign.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("run")
@spark_command
def run(
    file: CampaignName,
    *,
    out: Annotated[
        str, typer.Option("--out", help="Results folder for facts, tables and report, or s3://...")
    ],
    router: Routers = None,
    where: SparkOptions,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=MOST_SEEDS, help="Number of seeds at each point.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run fewer seeds and points.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--figure", metavar="FIGURE", help="Run only what this figure needs. May be repeated."),
    ] = None,
    replace: Replace = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Run the missing runs, then measure, judge and report.

    Repeat the command to resume. A router given by --router that the campaign does not name is added to all
    sweeps.
    """
    from roamcast.cli.shared.campaign_command import finish, run_campaign_file
    from roamcast.scenario.shipped import locate

    result = run_campaign_file(
        locate(file, "campaigns"),
        out,
        where=where,
        seeds=seeds,
        quick=quick,
        only=only or [],
        replace=replace,
        routers=router or [],
    )
    finish(result, json, strict)


@app.command("cost")
def cost(
    file: CampaignName,
    *,
    out: Annotated[
        str | None, typer.Option("--out", help="Results folder with earlier runs, which are the best basis.")
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--calibrate", min=1, max=3600, help="Simulated time of a calibration run after warm-up [s]."
        ),
    ] = 60.0,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=MOST_SEEDS, help="Number of seeds at each point.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Cost of fewer seeds and points.")] = False,
    readings: Annotated[
        bool, typer.Option("--readings", help="Cost of the runs under all readings of the paper.")
    ] = False,
    router: Routers = None,
    json: Json = False,
) -> None:
    """Estimate processor time and disk of the missing runs.

    The rates are those of earlier runs or of short calibration runs.
    """
    from roamcast.campaign.plan import apply_options, read_campaign
    from roamcast.pipeline.cost import cost_of_campaign, describe_cost
    from roamcast.scenario.shipped import locate

    added = add_routers(router)
    whole = join_campaign(read_campaign(locate(file, "campaigns")), added)
    campaign = apply_options(whole, seeds=seeds, quick=quick, readings=readings)
    found = cost_of_campaign(campaign, out, seconds)
    if json:
        import msgspec

        print(_to_json(msgspec.to_builtins(found)))
    else:
        print(describe_cost(found))


@app.command("status")
def status(folder: Folder, json: Json = False) -> None:
    """Print how many runs are done, failed and missing."""
    from roamcast.report.status import CampaignStatus
    from roamcast.results.results_folder import ResultsFolder

    standing = CampaignStatus(ResultsFolder(folder))
    print(_to_json(standing.record()) if json else standing.describe())


@app.command("runs")
def runs(
    folder: Folder,
    failed: Annotated[
        bool, typer.Option("--failed", help="List only failed runs, with their errors.")
    ] = False,
    json: Json = False,
) -> None:
    """List the runs with status, duration and memory."""
    from rich.console import Console

    from roamcast.report.status import CampaignStatus
    from roamcast.report.terminal import show_runs
    from roamcast.results.results_folder import ResultsFolder

    rows = CampaignStatus(ResultsFolder(folder)).runs()
    chosen = [row for row in rows if not failed or row["status"] == "failed"]
    if json:
        print(_to_json(chosen))
    elif chosen:
        show_runs(chosen, Console())
    else:
        print(f"none of {len(rows)} runs failed" if failed else "no runs")


def _to_json(value: object) -> str:
    import json

    return json.dumps(value, indent=1)


@app.command("report")
@spark_command
def report(
    folder: Folder,
    *,
    measure: Annotated[
        bool, typer.Option("--measure", help="First recompute metrics, summaries and verdicts.")
    ] = False,
    figures: Annotated[
        list[str] | None, typer.Option(metavar="FORMAT", help="Also write figures as files: png, pdf or svg.")
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="Also write a Markdown page with figures.")] = None,
    router: Routers = None,
    where: SparkOptions,
) -> None:
    """Write DIR/report.html from finished runs.

    Verdicts of another code version are computed again.
    """
    from roamcast.cli.shared.campaign_command import (
        judge_again,
        prepare_curves,
        remeasure,
        save_figures,
        write_report,
    )
    from roamcast.report.result import CampaignResult, warn
    from roamcast.results.results_folder import ResultsFolder

    add_routers(router)
    (remeasure if measure else judge_again)(folder, where, shlex.join(["roamcast", *sys.argv[1:]]))
    result = CampaignResult(ResultsFolder(folder))
    prepare_curves(result)
    print(write_report(result))
    for kind in figures or []:
        for file in save_figures(result, kind):
            print(file)
    if markdown is not None:
        from roamcast.report.markdown import write_markdown

        write_markdown(result, markdown)
        print(markdown)
    if result.stale:
        print(f"roamcast: warning: {warn(result)}", file=sys.stderr)
        raise typer.Exit(FAILED)
