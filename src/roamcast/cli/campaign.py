"""roamcast campaign: run a campaign file, see how it goes, report it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The campaign's folder.")]


@app.command("run")
def run(
    file: Annotated[Path, typer.Argument(metavar="CAMPAIGN.toml", help="The campaign.")],
    *,
    out: Annotated[Path, typer.Option("--out", help="Keep facts, tables and report here.")],
    master: Annotated[
        str | None, typer.Option(help="A Spark master; by default all processors here.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds at each point.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few seeds, few points.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(metavar="FIGURE", help="Only what a figure needs.")
    ] = None,
) -> None:
    """Run what is not yet done, then measure, judge and report all of it; run again to resume."""
    from roamcast.cli.conducting import conduct_file, finish

    result = conduct_file(file, out, master=master, seeds=seeds, quick=quick, only=only or [])
    finish(result)


@app.command("status")
def status(folder: Folder) -> None:
    """Tell how many runs are done, failed and missing."""
    from roamcast.pipeline.store import Store

    store = Store(folder)
    campaign, notes = store.read_campaign()
    plan = store.read_table("plan")
    survey = store.survey(plan["run"].to_pylist(), verify=False)
    print(f"{campaign.title}{' (quick version)' if notes.get('quick') else ''}")
    counts = f"{len(survey.done)} done, {len(survey.failed)} failed, {len(survey.missing)} missing"
    print(f"{len(plan)} runs: {counts}")
    for run_id, damage in survey.damaged.items():
        print(f"damaged: {run_id}: {damage}")
    if survey.missing or survey.failed:
        print(f"resume with: {notes.get('command', 'roamcast campaign run')}")


@app.command("runs")
def runs(
    folder: Folder,
    failed: Annotated[bool, typer.Option("--failed", help="Only those that failed, with the error.")] = False,
) -> None:
    """List the runs."""
    from rich.console import Console

    from roamcast.pipeline.store import Store
    from roamcast.report.terminal import show_runs

    store = Store(folder)
    plan = store.read_table("plan").to_pylist()
    survey = store.survey((row["run"] for row in plan), verify=False)
    rows = []
    for row in plan:
        manifest = survey.done.get(row["run"]) or survey.failed.get(row["run"]) or {"status": "missing"}
        if not failed or manifest["status"] == "failed":
            told = {
                "status": manifest["status"],
                "cpu": manifest.get("cpu"),
                "error": manifest.get("error", ""),
            }
            rows.append(row | told)
    show_runs(rows, Console())


@app.command("report")
def report(
    folder: Folder,
    measure: Annotated[bool, typer.Option("--measure", help="Measure and judge again first.")] = False,
    figures: Annotated[
        list[str] | None, typer.Option(metavar="FORMAT", help="Also figures as files: png, pdf, svg.")
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="Also a page of documentation, with figures.")] = None,
    master: Annotated[str | None, typer.Option(help="A Spark master, for --measure.")] = None,
) -> None:
    """Write DIR/report.html from what is done."""
    from roamcast.cli.conducting import measure_again, save_figures, write_report
    from roamcast.pipeline.store import Store
    from roamcast.report.result import Result

    store = Store(folder)
    if measure:
        measure_again(store, master, shlex.join(["roamcast", *sys.argv[1:]]))
    result = Result(store)
    print(write_report(result))
    for kind in figures or []:
        for file in save_figures(result, kind):
            print(file)
    if markdown is not None:
        from roamcast.report.markdown import write_markdown

        write_markdown(result, markdown)
        print(markdown)
